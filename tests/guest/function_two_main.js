// @title with several functions the uncalled main runs
// @req exe.5
// @expect {"status": "completed", "value": 9}
// ---
function square(n) {
  return n * n;
}
function main() {
  return square(3);
}
