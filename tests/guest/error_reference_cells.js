// @title an unknown name says that cells share nothing
// @req gst.2 gst.5 exe.16
// @expect {"status": "failed", "code": "internal_error", "error": ["ReferenceError: rows is not defined", "Cells do not share variables"], "line": 1}
// ---
return rows.length;
