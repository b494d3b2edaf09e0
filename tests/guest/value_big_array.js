// @title a value within the budget comes whole
// @req gst.4
// @expect {"status": "completed", "value": {"n": 2400, "last": {"id": 2399, "ok": true}}}
// ---
const rows = Array.from({ length: 2400 }, (_, id) => ({ id, ok: true }));
return { n: rows.length, last: rows.at(-1) };
