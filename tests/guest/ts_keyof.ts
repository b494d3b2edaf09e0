// @title keyof, typeof and mapped types
// @req exe.8
// @language typescript
// @expect {"status": "completed", "value": ["a", "b"]}
// ---
const o = { a: 1, b: 2 } as const;
type K = keyof typeof o;
type P = { [Q in K]?: (typeof o)[Q] };
const keys = Object.keys(o) as K[];
return keys;
