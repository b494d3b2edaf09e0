// @title comments alone are refused
// @req exe.1 exe.8
// @expect {"status": "failed", "code": "invalid_input"}
// ---
// nothing here
/* really */
