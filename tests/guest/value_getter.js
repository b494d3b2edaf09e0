// @title getters are read once
// @req gst.4
// @expect {"status": "completed", "value": {"a": 1}}
// ---
let n = 0;
return { get a() { return ++n; } };
