// @title a large text comes in one piece
// @req gst.4
// @expect {"status": "completed", "value": [200000, "x"]}
// ---
const s = await tools.large({ n: 200000 });
return [s.length, s[199999]];
