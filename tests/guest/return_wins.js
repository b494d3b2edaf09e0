// @title a return in the program wins over a last expression
// @req exe.5
// @expect {"status": "completed", "value": "early"}
// ---
if (true) return "early";
"late";
