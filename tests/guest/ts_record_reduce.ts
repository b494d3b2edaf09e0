// @title grouping with a typed accumulator
// @req exe.8
// @language typescript
// @expect {"status": "completed", "value": {"Rotterdam": 3, "Hamburg": 2}}
// ---
const all = (await Promise.all(["Rotterdam", "Hamburg"].map((port) => tools.list_shipments({ port })))).flat();
const counts = all.reduce<Record<string, number>>((acc, s: { port: string }) => {
  acc[s.port] = (acc[s.port] ?? 0) + 1;
  return acc;
}, {});
return counts;
