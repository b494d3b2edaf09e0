// @title a forgotten await is seen
// @req gst.2
// @expect {"status": "completed", "value": 1, "output": ["Promise { <not awaited> }"]}
// ---
const p = tools.add({ a: 1, b: 2 });
console.log(p);
await p;
return 1;
