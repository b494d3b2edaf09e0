// @title call gives the tool and the result
// @req cat.7
// @expect {"status": "completed", "value": ["openclaw:core:both", {"n": 1}]}
// ---
const r = await tools.call("both", {});
return [typeof r.tool === "string" ? r.tool : r.tool.id, r.result.details];
