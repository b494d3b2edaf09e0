// @title a thrown text is readable
// @req gst.5
// @expect {"status": "failed", "code": "internal_error", "error": ["plain"]}
// ---
throw "plain";
