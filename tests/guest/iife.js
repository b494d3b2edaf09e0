// @title an immediately called function gives its value
// @req exe.5
// @expect {"status": "completed", "value": "iife"}
// ---
(async () => {
  return "iife";
})();
