// @title a last expression without a semicolon is the value
// @req exe.5
// @expect {"status": "completed", "value": [1, 2, 3]}
// ---
const xs = [3, 1, 2]
xs.sort()
