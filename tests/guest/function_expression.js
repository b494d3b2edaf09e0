// @title a function expression is called
// @req exe.5
// @expect {"status": "completed", "value": "called"}
// ---
(async function run() {
  return "called";
})
