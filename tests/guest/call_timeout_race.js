// @title a call raced against a timer
// @req gst.2 exe.12
// @expect {"status": "completed", "value": "too slow"}
// ---
const late = new Promise((resolve) => setTimeout(() => resolve("too slow"), 10));
return await Promise.race([tools.slow_echo({ ms: 150, value: "in time" }), late]);
