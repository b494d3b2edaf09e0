// @title an open bracket is named with its line
// @req exe.8
// @expect {"status": "failed", "code": "invalid_input", "error": ["SyntaxError"]}
// ---
return { a: 1;
