// @title a Set is an array
// @req gst.4
// @expect {"status": "completed", "value": [1, "b"]}
// ---
return new Set([1, "b", 1]);
