// @title a cell that is one arrow function is called
// @req exe.5
// @expect {"status": "completed", "value": 42}
// ---
async () => { const a = 20; return a + 22; }
