// @title a syntax error of TypeScript has a line
// @req exe.8
// @language typescript
// @expect {"status": "failed", "code": "invalid_input", "error": ["SyntaxError"], "line": 2}
// ---
type A = { x: number };
const a: = { x: 1 };
return a;
