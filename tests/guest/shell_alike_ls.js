// @title a program with a variable called ls runs
// @req exe.7
// @expect {"status": "completed", "value": 7}
// ---
const ls = 7; return ls;
