// @title CRLF line ends
// @req exe.5 gst.5
// @encoding json
// @expect {"status": "failed", "error": ["TypeError"], "code": "internal_error", "line": 2}
// ---
"const o = null;\r\nreturn o.a;\r\n"
