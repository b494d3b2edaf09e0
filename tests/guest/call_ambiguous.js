// @title an ambiguous name names the ids
// @req cat.4 cat.5
// @expect {"status": "completed", "value": ["undefined", true, true, ["from crm", "from wiki"]]}
// ---
let message = "";
try {
  await tools.callValue("find", {});
} catch (e) {
  message = e.message;
}
const byId = [
  await tools.callValue("openclaw:crm:find", {}),
  await tools.callValue("openclaw:wiki:find", {}),
];
return [typeof tools.find, message.includes("openclaw:crm:find"), message.includes("openclaw:wiki:find"), byId];
