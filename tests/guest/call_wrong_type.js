// @title a wrong type is named before the tool runs
// @req cat.10
// @expect {"status": "completed", "value": [true, 0]}
// ---
let message = "";
try {
  await tools.create_note({ title: 5 });
} catch (e) {
  message = e.message;
}
return [/title/.test(message), (await tools.list_notes({})).length];
