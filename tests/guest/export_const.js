// @title export of a declaration is dropped with a warning
// @req exe.5
// @expect {"status": "completed", "value": 2, "warnings": ["export"]}
// ---
export const x = 1;
return x + 1;
