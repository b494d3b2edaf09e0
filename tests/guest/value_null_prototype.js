// @title an object without prototype
// @req gst.4
// @expect {"status": "completed", "value": {"a": 1}}
// ---
return Object.assign(Object.create(null), { a: 1 });
