// @title notes are stored in order
// @req exe.11
// @expect {"status": "completed", "value": [1, 2, ["a", "b"]]}
// ---
const one = await tools.create_note({ title: "a" });
const two = await tools.create_note({ title: "b", body: "text" });
const notes = await tools.list_notes({});
return [one.count, two.count, notes.map((n) => n.title)];
