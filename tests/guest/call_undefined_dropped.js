// @title undefined fields are not sent
// @req gst.4
// @expect {"status": "completed", "value": {"a": 1}}
// ---
return await tools.callValue("id", { a: 1, b: undefined });
