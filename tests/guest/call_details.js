// @title callValue gives the details
// @req cat.7
// @expect {"status": "completed", "value": {"n": 1}}
// ---
return await tools.callValue("both", {});
