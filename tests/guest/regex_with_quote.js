// @title quotes and slashes in regexes are no strings
// @req exe.5
// @expect {"status": "completed", "value": ["a'b/c", "x"]}
// ---
return ["a'b/c".match(/a['"]b\/c/)[0], "x".replace(/[/]/g, "")];
