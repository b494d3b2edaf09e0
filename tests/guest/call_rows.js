// @title many rows
// @req gst.4
// @expect {"status": "completed", "value": [5000, "row 4999", 12497500]}
// ---
const rows = await tools.rows({ n: 5000 });
return [rows.length, rows.at(-1).name, rows.reduce((a, r) => a + r.id, 0)];
