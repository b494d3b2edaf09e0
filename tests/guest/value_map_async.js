// @title a map with an async function and no await is named
// @req gst.4
// @expect {"status": "completed", "value": [null, null], "warnings": ["not awaited"]}
// ---
return [1, 2].map(async (n) => tools.add({ a: n, b: 1 }));
