// @title a return in both branches
// @req exe.5
// @expect {"status": "completed", "value": "big"}
// ---
const n = 10;
if (n > 5) {
  return "big";
} else {
  return "small";
}
