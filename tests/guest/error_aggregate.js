// @title an AggregateError lists its errors
// @req gst.5
// @expect {"status": "failed", "code": "internal_error", "error": ["AggregateError: many", "Error: i"]}
// ---
throw new AggregateError([new Error("i")], "many");
