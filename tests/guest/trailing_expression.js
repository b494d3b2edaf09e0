// @title a last expression is the value
// @req exe.5
// @expect {"status": "completed", "value": 3}
// ---
const a = 1;
a + 2;
