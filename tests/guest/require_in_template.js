// @title code in a template is code
// @req exe.6
// @expect {"status": "failed", "code": "invalid_input", "error": ["Module access is disabled"]}
// ---
return `${require("fs")}`;
