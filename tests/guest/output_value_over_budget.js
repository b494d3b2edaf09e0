// @title a value over the budget fails
// @req gst.3
// @config {"maxOutputBytes": 1024}
// @expect {"status": "failed", "code": "output_limit_exceeded", "limit": "output"}
// ---
return "y".repeat(2000);
