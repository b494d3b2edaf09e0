// @title packages are not there
// @req gst.2
// @expect {"status": "failed", "code": "internal_error", "error": ["packages"]}
// ---
return _.sortBy([2, 1]);
