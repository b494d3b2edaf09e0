// @title the line of a syntax error is the model's
// @req exe.8
// @expect {"status": "failed", "code": "invalid_input", "error": ["SyntaxError"], "line": 3}
// ---
const a = 1;
const b = 2;
const c = a +* b;
return c;
