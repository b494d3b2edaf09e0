// @title a rejection that is handled later is not named
// @req exe.12
// @expect {"status": "completed", "value": "late"}
// ---
const p = Promise.reject(new Error("late"));
await tools.add({ a: 1, b: 1 });
return await p.catch((e) => e.message);
