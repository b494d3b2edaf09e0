// @title typed tool results
// @req exe.8 exe.11
// @language typescript
// @expect {"status": "completed", "value": ["S1", "S6"]}
// ---
interface Shipment { id: string; port: string; status: "arrived" | "delayed" | "customs"; weight_kg: number }
const list = (await tools.list_shipments({ port: "Rotterdam" })) as Shipment[];
return list.filter((s): s is Shipment => s.status === "arrived").map((s) => s.id);
