// @title a function that is called at the end gives its value
// @req exe.5
// @expect {"status": "completed", "value": 7}
// ---
async function main() {
  return 7;
}
main();
