// @title a thrown null is readable
// @req gst.5
// @expect {"status": "failed", "code": "internal_error", "error": ["null"]}
// ---
throw null;
