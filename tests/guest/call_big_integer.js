// @title a big integer arrives exactly
// @req gst.4
// @expect {"status": "completed", "value": ["bigint", "1180591620717411303424", 1180591620717411303425]}
// ---
const n = await tools.big_number({});
return [typeof n, String(n), n + 1n];
