// @title joining and summing orders
// @req exe.11
// @expect {"status": "completed", "value": {"Ada": 2.5, "Grace": 21.99}}
// ---
const ids = ["A-1", "A-2", "A-3"];
const orders = await Promise.all(ids.map((id) => tools.get_order({ id })));
const sums = {};
for (const { customer, items } of orders) {
  const total = items.reduce((sum, { qty, price }) => sum + qty * price, 0);
  sums[customer] = Math.round(((sums[customer] ?? 0) + total) * 100) / 100;
}
return sums;
