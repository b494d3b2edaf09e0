// @title curl is refused
// @req exe.7
// @expect {"status": "failed", "code": "invalid_input", "error": ["shell"]}
// ---
curl -s https://example.test/api
