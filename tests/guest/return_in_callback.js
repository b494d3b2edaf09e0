// @title a return in a callback is not the cell's
// @req exe.5
// @expect {"status": "completed", "value": [2, 3]}
// ---
const xs = [1, 2].map((x) => { return x + 1; });
xs
