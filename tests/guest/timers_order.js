// @title timers fire in the order of their times
// @req gst.2
// @expect {"status": "completed", "value": ["micro", "t1", "t5", "t20"]}
// ---
const order = [];
const done = new Promise((resolve) => setTimeout(() => { order.push("t20"); resolve(); }, 20));
setTimeout(() => order.push("t5"), 5);
setTimeout((a, b) => order.push(a + b), 1, "t", 1);
queueMicrotask(() => order.push("micro"));
await done;
return order;
