// @title a search without a match is empty
// @req cat.6
// @expect {"status": "completed", "value": []}
// ---
return await tools.search("zzzzqqqq");
