// @title a subtraction is no command
// @req exe.7
// @expect {"status": "completed", "value": 1}
// ---
const ls = 3, la = 2;
ls -la
