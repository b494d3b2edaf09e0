// @title a tool is called by its name
// @req cat.5 exe.11
// @expect {"status": "completed", "value": [["S3", "arrived"], ["S4", "customs"]]}
// ---
const list = await tools.list_shipments({ port: "Hamburg" });
return list.map((s) => [s.id, s.status]);
