// @title a last template is the value
// @req exe.5
// @expect {"status": "completed", "value": "sum 3"}
// ---
const s = 1 + 2;
`sum ${s}`
