// @title a cycle is an error with its path
// @req gst.4
// @expect {"status": "failed", "code": "internal_error", "error": ["self"]}
// ---
const o = { a: 1 };
o.self = o;
return o;
