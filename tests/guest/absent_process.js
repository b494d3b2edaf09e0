// @title process says what to do
// @req gst.2
// @expect {"status": "failed", "code": "internal_error", "error": ["ReferenceError", "environment"]}
// ---
return process.env.HOME;
