// @title a rejected call that nobody handles is named
// @req exe.12
// @expect {"status": "completed", "value": "fine", "warnings": ["nobody listens"]}
// ---
tools.raises({ message: "nobody listens" });
return "fine";
