// @title more calls than may be in flight are queued
// @req exe.14
// @expect {"status": "completed", "value": [60, 1770]}
// ---
const all = await Promise.all(Array.from({ length: 60 }, (_, i) => tools.add({ a: i, b: 0 })));
return [all.length, all.reduce((a, b) => a + b, 0)];
