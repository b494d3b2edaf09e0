// @title a generic arrow function with a comparison
// @req exe.8
// @language typescript
// @expect {"status": "completed", "value": [true, 2]}
// ---
const max = <T extends number>(a: T, b: T): T => (a > b ? a : b);
const lt = 1 < 2;
return [lt, max(1, 2)];
