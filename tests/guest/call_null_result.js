// @title null from a tool is null
// @req gst.4
// @expect {"status": "completed", "value": [null, true]}
// ---
const r = await tools.nothing({});
return [r, r === null];
