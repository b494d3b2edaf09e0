// @title a line separator in a string stays
// @req exe.5
// @encoding json
// @expect {"status": "completed", "value": "a b"}
// ---
"return \"a\u2028b\";"
