// @title satisfies goes away
// @req exe.8
// @language typescript
// @expect {"status": "completed", "value": {"a": 1}}
// ---
const o = { a: 1 } satisfies Record<string, number>;
return o;
