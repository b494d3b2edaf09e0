// @title export default of a function is called
// @req exe.5
// @expect {"status": "completed", "value": {"ok": true}}
// ---
export default async function () { return { ok: true }; }
