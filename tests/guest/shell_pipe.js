// @title a pipeline is refused
// @req exe.7
// @expect {"status": "failed", "code": "invalid_input", "error": ["shell"]}
// ---
cat package.json | grep version
