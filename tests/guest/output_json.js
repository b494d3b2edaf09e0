// @title json gives structured items
// @req gst.3
// @expect {"status": "completed", "value": true, "output": [{"json": {"a": [1]}}, "t", {"json": null}]}
// ---
json({ a: [1] });
text("t");
json(null);
return true;
