// @title a thrown object is readable
// @req gst.5
// @expect {"status": "failed", "code": "internal_error", "error": ["{\"code\":7}"]}
// ---
throw { code: 7 };
