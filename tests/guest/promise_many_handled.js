// @title more rejections in one turn than are remembered, all handled: no warning
// @req exe.12
// @expect {"status": "completed", "value": [120, 500]}
// ---
const early = Array.from({ length: 120 }, (_, i) => Promise.reject(new Error(String(i))));
const settled = await Promise.allSettled(early);
const late = await Promise.allSettled(Array.from({ length: 500 }, async (_, i) => { throw i; }));
return [settled.length, late.filter((one) => one.status === "rejected").length];
