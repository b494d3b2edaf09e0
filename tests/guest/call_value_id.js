// @title a tool is called by its id
// @req cat.7
// @expect {"status": "completed", "value": "Grace"}
// ---
const order = await tools.callValue("openclaw:core:get_order", { id: "A-2" });
return order.customer;
