// @title typographic quotes are named
// @req exe.8
// @expect {"status": "failed", "code": "invalid_input", "error": ["quotes"], "line": 1}
// ---
return “hello”;
