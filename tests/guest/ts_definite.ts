// @title definite assignment and index signatures
// @req exe.8
// @language typescript
// @expect {"status": "completed", "value": {"a": 1}}
// ---
let v!: number;
const m: { [key: string]: number } = {};
v = 1;
m["a"] = v;
return m;
