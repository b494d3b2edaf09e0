// @title a symbol is text
// @req gst.4
// @expect {"status": "completed", "value": "Symbol(x)"}
// ---
return Symbol("x");
