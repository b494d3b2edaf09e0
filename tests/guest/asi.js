// @title lines that start with a bracket
// @req exe.5
// @expect {"status": "completed", "value": [1, 2]}
// ---
const a = 1
;[1, 2].forEach(() => {})
return [a, 2]
