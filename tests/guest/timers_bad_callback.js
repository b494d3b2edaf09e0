// @title text is no callback
// @req gst.2
// @expect {"status": "completed", "value": "TypeError"}
// ---
try {
  setTimeout("text('x')", 1);
} catch (e) {
  return e.name;
}
