// @title microtasks in order
// @req exe.5
// @expect {"status": "completed", "value": ["sync", "then 1", "micro", "await"]}
// ---
const log = [];
Promise.resolve().then(() => log.push("then 1"));
queueMicrotask(() => log.push("micro"));
log.push("sync");
await null;
log.push("await");
return log;
