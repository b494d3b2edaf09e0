// @title a getter that throws fails the cell
// @req gst.4 gst.5
// @expect {"status": "failed", "code": "internal_error", "error": ["not readable"]}
// ---
return { get a() { throw new Error("not readable"); } };
