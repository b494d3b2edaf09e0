// @title search, describe, call
// @req cat.6 cat.3
// @expect {"status": "completed", "value": ["openclaw:core:get_order", ["id"], "Ada"]}
// ---
const hits = await tools.search("order items", { limit: 3 });
const hit = hits.find((h) => h.name === "get_order");
const full = await tools.describe(hit.id);
const order = await tools.callValue(hit.id, { id: "A-1" });
return [hit.id, Object.keys(full.parameters.properties), order.customer];
