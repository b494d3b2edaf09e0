// @title endless recursion is an error, and the cell ends
// @req exe.4
// @expect {"status": "failed", "code": "internal_error", "limit": "stack", "error": ["RangeError"]}
// ---
const f = (n) => f(n + 1) + 1;
return f(0);
