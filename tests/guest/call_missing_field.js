// @title a missing field is named before the tool runs
// @req cat.10
// @expect {"status": "completed", "value": true}
// ---
try {
  await tools.get_order({});
  return "ran";
} catch (e) {
  return /id/.test(e.message);
}
