// @title a cell without a value says so
// @req exe.5
// @expect {"status": "completed", "value": null, "warnings": ["returned nothing"]}
// ---
const a = 1;
