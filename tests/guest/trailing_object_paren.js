// @title a parenthesised object is a value
// @req exe.5
// @expect {"status": "completed", "value": {"a": 1}}
// ---
const a = 1;
({ a });
