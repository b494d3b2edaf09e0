// @title parallel calls keep the order of the inputs
// @req exe.11
// @expect {"status": "completed", "value": [3, 5, 7]}
// ---
return await Promise.all([[1, 2], [2, 3], [3, 4]].map(([a, b]) => tools.add({ a, b })));
