// @title comments around the program do not matter
// @req exe.5
// @expect {"status": "completed", "value": 1}
// ---
// first, the answer
/* then */ return 1; // done
