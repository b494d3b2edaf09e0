// @title a dynamic import is refused
// @req exe.6
// @expect {"status": "failed", "code": "invalid_input", "error": ["Module access is disabled"]}
// ---
const fs = await import("fs");
return typeof fs;
