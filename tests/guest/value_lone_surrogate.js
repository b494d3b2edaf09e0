// @title a lone surrogate is replaced
// @req gst.4
// @expect {"status": "completed", "value": "a�b"}
// ---
return "a\ud800b";
