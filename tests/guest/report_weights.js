// @title sums over ports
// @req exe.11
// @expect {"status": "completed", "value": {"Rotterdam": 275.5, "Hamburg": 342, "Antwerp": 510}}
// ---
const out = {};
for (const port of ["Rotterdam", "Hamburg", "Antwerp"]) {
  const list = await tools.list_shipments({ port });
  out[port] = list.reduce((sum, { weight_kg }) => sum + weight_kg, 0);
}
return out;
