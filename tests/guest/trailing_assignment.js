// @title a last assignment is the value
// @req exe.5
// @expect {"status": "completed", "value": 5}
// ---
let total = 0;
total = 2 + 3;
