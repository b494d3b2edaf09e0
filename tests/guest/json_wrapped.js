// @title a program inside of JSON is refused with advice
// @req exe.8
// @expect {"status": "failed", "code": "invalid_input", "error": ["code"]}
// ---
{"code": "return 1", "language": "javascript"}
