// @title an optional call of require is refused
// @req exe.6
// @expect {"status": "failed", "code": "invalid_input", "error": ["Module access is disabled"]}
// ---
return require?.("fs");
