// @title an escaped require is refused
// @req exe.6
// @expect {"status": "failed", "code": "invalid_input", "error": ["Module access is disabled"]}
// ---
return r\u0065quire("fs");
