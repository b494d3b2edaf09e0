// @title a last conditional is the value
// @req exe.5
// @expect {"status": "completed", "value": "yes"}
// ---
const n = 3;
n > 2 ? "yes" : "no";
