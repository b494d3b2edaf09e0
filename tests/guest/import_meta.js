// @title import.meta is refused
// @req exe.6
// @expect {"status": "failed", "code": "invalid_input", "error": ["Module access is disabled"]}
// ---
return import.meta.url;
