// @title a last awaited call is the value
// @req exe.5 exe.11
// @expect {"status": "completed", "value": 5}
// ---
const a = 2;
await tools.add({ a, b: 3 });
