// @title line breaks sent as two characters
// @req exe.5 exe.8
// @encoding json
// @expect {"status": "completed", "value": 1, "warnings": ["line breaks"]}
// ---
"const a = 1;\\nreturn a;"
