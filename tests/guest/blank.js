// @title a blank program is refused
// @req exe.1
// @encoding json
// @expect {"status": "failed", "code": "invalid_input"}
// ---
"  \n\t "
