// @title require behind a comma is refused
// @req exe.6
// @expect {"status": "failed", "code": "invalid_input", "error": ["Module access is disabled"]}
// ---
return (0, require)("node:fs");
