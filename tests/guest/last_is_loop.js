// @title a loop at the end is no value
// @req exe.5
// @expect {"status": "completed", "value": null, "warnings": ["returned nothing"]}
// ---
let n = 0;
for (let i = 0; i < 3; i++) n += i;
