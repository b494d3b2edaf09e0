// @title git is refused
// @req exe.7
// @expect {"status": "failed", "code": "invalid_input", "error": ["shell"]}
// ---
git status
