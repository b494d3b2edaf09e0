// @title a text alone is a value
// @req exe.5
// @expect {"status": "completed", "value": "hello"}
// ---
"hello"
