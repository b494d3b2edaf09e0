// @title timers and calls together
// @req gst.2 exe.12
// @expect {"status": "completed", "value": ["timer", "call"]}
// ---
const log = [];
const call = tools.slow_echo({ ms: 80, value: "call" }).then((v) => log.push(v));
await new Promise((resolve) => setTimeout(() => { log.push("timer"); resolve(); }, 5));
await call;
return log;
