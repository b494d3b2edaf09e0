// @title grouping with Object.groupBy
// @req exe.11
// @expect {"status": "completed", "value": {"arrived": ["S1", "S6"], "delayed": ["S2"]}}
// ---
const list = await tools.list_shipments({ port: "Rotterdam" });
const groups = Object.groupBy(list, (s) => s.status);
return Object.fromEntries(Object.entries(groups).map(([k, v]) => [k, v.map((s) => s.id)]));
