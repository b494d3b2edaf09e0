// @title an assignment before a command is refused
// @req exe.7
// @expect {"status": "failed", "code": "invalid_input", "error": ["shell"]}
// ---
FOO=bar ./run.sh --fast
