// @title a value used twice is no cycle
// @req gst.4
// @expect {"status": "completed", "value": {"a": {"n": 1}, "b": {"n": 1}}}
// ---
const n = { n: 1 };
return { a: n, b: n };
