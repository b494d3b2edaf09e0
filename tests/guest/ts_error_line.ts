// @title a frame of TypeScript has the model's line
// @req exe.8 gst.5
// @language typescript
// @expect {"status": "failed", "code": "internal_error", "error": ["TypeError"], "line": 5}
// ---
interface A {
  x: { y: number } | null;
}
const a: A = { x: null };
return a.x!.y;
