// @title an object literal alone is a value
// @req exe.5
// @expect {"status": "completed", "value": {"a": 1, "b": [2]}}
// ---
{ a: 1, b: [2] }
