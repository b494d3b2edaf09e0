// @title an arrow function with an expression is called
// @req exe.5
// @expect {"status": "completed", "value": [2, 4]}
// ---
() => [1, 2].map((n) => n * 2)
