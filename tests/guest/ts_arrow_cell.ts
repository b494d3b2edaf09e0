// @title a typed arrow cell is called
// @req exe.5 exe.8
// @language typescript
// @expect {"status": "completed", "value": "ok"}
// ---
async (): Promise<string> => {
  const r: string = "ok";
  return r;
}
