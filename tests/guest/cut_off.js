// @title half a program is called cut off
// @req exe.8
// @expect {"status": "failed", "code": "invalid_input", "error": ["SyntaxError", "cut off"]}
// ---
const rows = await tools.rows({ n: 3 });
for (const row of rows) {
  text(row.name
