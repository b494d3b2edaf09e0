// @title a rejection that nobody handles is named
// @req exe.12
// @expect {"status": "completed", "value": "fine", "warnings": ["lost"]}
// ---
(async () => { await null; throw new Error("lost"); })();
return "fine";
