// @title a bare return gives null
// @req exe.5
// @expect {"status": "completed", "value": null, "warnings": ["returned nothing"]}
// ---
return;
