// @title a syntax error has a place
// @req exe.8
// @expect {"status": "failed", "code": "invalid_input", "error": ["SyntaxError"], "line": 1}
// ---
const = 5;
