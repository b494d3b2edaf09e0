// @title a typed catch clause
// @req exe.8
// @language typescript
// @expect {"status": "completed", "value": "bad"}
// ---
try {
  throw new Error("bad");
} catch (e: unknown) {
  return (e as Error).message;
}
