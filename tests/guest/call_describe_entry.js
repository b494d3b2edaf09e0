// @title an entry can be passed instead of its id
// @req cat.4
// @expect {"status": "completed", "value": 3}
// ---
const [entry] = await tools.search("add two numbers");
return await tools.callValue(entry.id, { a: 1, b: 2 });
