// @title undefined fields are dropped
// @req gst.4
// @expect {"status": "completed", "value": {"b": null}}
// ---
return { a: undefined, b: null };
