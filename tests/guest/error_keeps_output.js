// @title what was shown before an error is kept
// @req gst.5 exe.3
// @expect {"status": "failed", "code": "internal_error", "error": ["Error: stop"], "output": ["step 1", "step 2"]}
// ---
text("step 1");
console.log("step 2");
throw new Error("stop");
