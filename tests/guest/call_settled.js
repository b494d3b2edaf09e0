// @title allSettled with a failure
// @req exe.12 gst.5
// @expect {"status": "completed", "value": [["fulfilled", 3], ["rejected", "no"]]}
// ---
const all = await Promise.allSettled([tools.add({ a: 1, b: 2 }), tools.raises({ message: "no" })]);
return all.map((r) => [r.status, r.value ?? r.reason.message]);
