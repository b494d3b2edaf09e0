// @title a mistake of types does not stop a program
// @req exe.8
// @language typescript
// @expect {"status": "completed", "value": 2}
// ---
type R = { ok: true; content: string } | { ok: false; error: string };
const r: R = { ok: true, content: "hi" } as R;
return r.content.length;
