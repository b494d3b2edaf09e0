// @title pages through an async generator
// @req exe.11
// @expect {"status": "completed", "value": [0, 1, 2, 3, 4, 5]}
// ---
async function* pages() {
  for (let i = 1; i <= 3; i++) {
    const rows = await tools.rows({ n: i * 2 });
    yield rows.slice(-2).map((r) => r.id);
  }
}
const out = [];
for await (const page of pages()) out.push(...page);
return out;
