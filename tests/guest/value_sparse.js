// @title holes are null
// @req gst.4
// @expect {"status": "completed", "value": [1, null, 3]}
// ---
return [1, , 3];
