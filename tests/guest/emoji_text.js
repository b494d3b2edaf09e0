// @title text beyond the basic plane
// @req gst.4
// @expect {"status": "completed", "value": {"s": "😀é", "length": 3}}
// ---
const s = "😀é";
return { s, length: s.length };
