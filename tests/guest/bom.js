// @title a byte order mark does not matter
// @req exe.5
// @encoding json
// @expect {"status": "completed", "value": 1}
// ---
"\ufeffreturn 1;"
