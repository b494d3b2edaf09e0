// @title the line is right behind code that was generated
// @req exe.8 gst.5
// @language typescript
// @expect {"status": "failed", "code": "internal_error", "error": ["Error: here"], "line": 7}
// ---
enum E {
  A,
  B,
  C,
}
type T = E;
throw new Error("here");
