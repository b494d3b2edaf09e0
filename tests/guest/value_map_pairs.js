// @title any other Map is a list of pairs
// @req gst.4
// @expect {"status": "completed", "value": [[1, 2], [{"k": 1}, "v"]]}
// ---
return new Map([[1, 2], [{ k: 1 }, "v"]]);
