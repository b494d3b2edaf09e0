// @title sequential calls in a loop
// @req exe.11
// @expect {"status": "completed", "value": {"total": 6, "count": 3}}
// ---
let total = 0;
let count = 0;
for (const n of [1, 2, 3]) {
  total = await tools.add({ a: total, b: n });
  count += 1;
}
return { total, count };
