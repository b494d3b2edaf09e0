// @title a tool's error ends the cell with its message
// @req gst.5 exe.3
// @expect {"status": "failed", "code": "internal_error", "error": ["Error: quota used up"], "line": 2}
// ---
const before = 1;
await tools.raises({ message: "quota used up" });
return before;
