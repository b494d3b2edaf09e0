// @title the tools object is no promise and can be listed
// @req gst.1 cat.5
// @expect {"status": "completed", "value": [true, false, true, true]}
// ---
const t = await tools;
return [t === tools, "then" in tools, Object.keys(tools).includes("add"), String(tools).length > 0];
