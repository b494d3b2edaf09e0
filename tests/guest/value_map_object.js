// @title a Map with text keys is an object
// @req gst.4
// @expect {"status": "completed", "value": {"a": 1, "b": {"c": 2}}}
// ---
return new Map([["a", 1], ["b", new Map([["c", 2]])]]);
