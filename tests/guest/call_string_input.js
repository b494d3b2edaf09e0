// @title text instead of an object is refused with advice
// @req cat.10
// @expect {"status": "completed", "value": true}
// ---
try {
  await tools.callValue("get_order", "A-1");
  return "ran";
} catch (e) {
  return /object/.test(e.message);
}
