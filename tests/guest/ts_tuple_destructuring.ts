// @title typed destructuring
// @req exe.8
// @language typescript
// @expect {"status": "completed", "value": ["a", 1, [2, 3]]}
// ---
const [k, n, ...rest]: [string, number, ...number[]] = ["a", 1, 2, 3];
const { length }: { length: number } = rest;
return [k, n, rest];
