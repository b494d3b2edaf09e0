// @title a name declared twice is a syntax error
// @req exe.8
// @expect {"status": "failed", "code": "invalid_input", "error": ["SyntaxError"], "line": 2}
// ---
const a = 1;
const a = 2;
return a;
