// @title typeof of an absent name is fine
// @req exe.6 gst.2
// @expect {"status": "completed", "value": ["undefined", "undefined"]}
// ---
return [typeof require, typeof module];
