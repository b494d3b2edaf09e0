// @title a value that is too deep is an error
// @req gst.4
// @expect {"status": "failed", "code": "internal_error", "error": ["512"]}
// ---
let a = [];
for (let i = 0; i < 2000; i++) a = [a];
return a;
