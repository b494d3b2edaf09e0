// @title a tool taken out of the object works
// @req cat.5
// @expect {"status": "completed", "value": 3}
// ---
const { add, callValue } = tools;
return (await add({ a: 1, b: 1 })) + (await callValue("add", { a: 1, b: 0 }));
