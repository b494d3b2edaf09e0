// @title frames name the functions
// @req gst.5
// @expect {"status": "failed", "code": "internal_error", "error": ["Error: deep", "inner", "outer"], "line": 2}
// ---
function inner() {
  throw new Error("deep");
}
function outer() {
  inner();
}
outer();
return 1;
