// @title a cause is shown
// @req gst.5
// @expect {"status": "failed", "code": "internal_error", "error": ["Error: outer", "Error: inner"]}
// ---
throw new Error("outer", { cause: new Error("inner") });
