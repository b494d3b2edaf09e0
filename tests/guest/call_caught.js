// @title a tool's error can be caught
// @req gst.5
// @expect {"status": "completed", "value": ["Error", true, "order not found: Z-9"]}
// ---
try {
  await tools.get_order({ id: "Z-9" });
} catch (e) {
  return [e.name, e instanceof Error, e.message];
}
