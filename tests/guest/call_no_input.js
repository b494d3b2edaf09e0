// @title a missing input is an empty object
// @req cat.10
// @expect {"status": "completed", "value": {}}
// ---
return await tools.callValue("id");
