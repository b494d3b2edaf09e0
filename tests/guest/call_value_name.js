// @title a tool is called by its unique name
// @req cat.4
// @expect {"status": "completed", "value": 5}
// ---
return await tools.callValue("add", { a: 2, b: 3 });
