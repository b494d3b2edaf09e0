// @title fetch points at the catalog
// @req gst.2
// @expect {"status": "failed", "code": "internal_error", "error": ["ReferenceError", "tools.search"], "line": 1}
// ---
const r = await fetch("https://example.test");
return r.status;
