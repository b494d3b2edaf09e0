// @title an error has its name, message and line
// @req gst.5
// @expect {"status": "failed", "code": "internal_error", "error": ["TypeError"], "line": 2}
// ---
const x = { a: 1 };
return x.b.c;
