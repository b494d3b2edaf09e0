// @title escapes in strings are never touched
// @req exe.5
// @expect {"status": "completed", "value": 4}
// ---
return "a\\nb".length
