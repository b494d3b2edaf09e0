// @title a returned rejected promise fails the cell
// @req gst.5
// @expect {"status": "failed", "code": "internal_error", "error": ["Error: p"]}
// ---
return Promise.reject(new Error("p"));
