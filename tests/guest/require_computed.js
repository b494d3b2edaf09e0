// @title a computed lookup finds no loader
// @req exe.6
// @expect {"status": "failed", "code": "internal_error", "error": ["TypeError"]}
// ---
return globalThis["req" + "uire"]("fs");
