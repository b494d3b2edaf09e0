// @title finally runs
// @req gst.5
// @expect {"status": "failed", "code": "internal_error", "error": ["Error: x"], "output": ["cleanup"]}
// ---
try {
  throw new Error("x");
} finally {
  text("cleanup");
}
