// @title an exception in a timer is named
// @req gst.2 exe.12
// @expect {"status": "completed", "value": "end", "warnings": ["in timer"]}
// ---
setTimeout(() => { throw new Error("in timer"); }, 1);
await new Promise((resolve) => setTimeout(resolve, 20));
return "end";
