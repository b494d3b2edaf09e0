// @title text as it is, other values as JSON
// @req gst.3
// @expect {"status": "completed", "value": null, "output": ["plain", "{\"a\":1}", "[1,2]", "3"]}
// ---
text("plain");
text({ a: 1 });
text([1, 2]);
text(3);
return null;
