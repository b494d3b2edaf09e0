// @title an awaited call at the end gives its value
// @req exe.5
// @expect {"status": "completed", "value": 7}
// ---
async function main() {
  return 7;
}
await main();
