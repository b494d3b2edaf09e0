// @title an invented root lists the real ones
// @req gst.2
// @expect {"status": "failed", "code": "internal_error", "error": ["functions is not defined", "tools"]}
// ---
return await functions.web_search({ query: "x" });
