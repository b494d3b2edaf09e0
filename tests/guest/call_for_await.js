// @title for await over calls
// @req exe.11
// @expect {"status": "completed", "value": [3, 7]}
// ---
const out = [];
for await (const n of [tools.add({ a: 1, b: 2 }), tools.add({ a: 3, b: 4 })]) out.push(n);
return out;
