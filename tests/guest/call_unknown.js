// @title an unknown tool is an error that names close ids
// @req cat.4
// @expect {"status": "completed", "value": [true, true]}
// ---
try {
  await tools.callValue("get_ordr", { id: "A-1" });
} catch (e) {
  return [e.message.includes("openclaw:core:get_order"), e.message.includes("tools.search")];
}
