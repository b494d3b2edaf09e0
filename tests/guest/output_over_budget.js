// @title too much output fails and keeps what came before
// @req gst.3
// @config {"maxOutputBytes": 1024}
// @expect {"status": "failed", "code": "output_limit_exceeded", "limit": "output", "output": ["first"]}
// ---
text("first");
text("y".repeat(2000));
return 1;
