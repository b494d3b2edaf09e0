// @title then and finally
// @req exe.11
// @expect {"status": "completed", "value": ["n", 12, "f"]}
// ---
const log = [];
const r = await tools.add({ a: 5, b: 7 })
  .then((n) => { log.push("n"); return n; })
  .finally(() => log.push("f"));
return [log[0], r, log[1]];
