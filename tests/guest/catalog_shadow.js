// @title a local variable may have the name of a global
// @req gst.1
// @expect {"status": "completed", "value": ["mine", 2]}
// ---
const text = "mine";
const { add } = tools;
return [text, await add({ a: 1, b: 1 })];
