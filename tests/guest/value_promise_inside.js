// @title a promise left in a value is named
// @req gst.4
// @expect {"status": "completed", "value": {"a": null}, "warnings": ["not awaited"]}
// ---
return { a: tools.add({ a: 1, b: 2 }) };
