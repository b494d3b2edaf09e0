// @title an invented tool name lists the real roots
// @req cat.5 gst.2
// @expect {"status": "failed", "code": "internal_error", "error": ["TypeError", "tools"]}
// ---
return await tools.web_search({ query: "x" });
