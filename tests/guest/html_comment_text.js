// @title comment marks in strings are text
// @req exe.5
// @expect {"status": "completed", "value": ["<!--", "//", "/*"]}
// ---
return ["<!--", "//", "/*"];
