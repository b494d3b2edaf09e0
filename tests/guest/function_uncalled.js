// @title one named function that nobody calls is called
// @req exe.5
// @expect {"status": "completed", "value": 6}
// ---
async function main() {
  const r = await tools.add({ a: 2, b: 4 });
  return r;
}
