// @title a shell command is refused
// @req exe.7
// @expect {"status": "failed", "code": "invalid_input", "error": ["shell", "tools.search"]}
// ---
ls -la
