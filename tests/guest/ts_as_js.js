// @title TypeScript sent without a language runs with a warning
// @req exe.8
// @expect {"status": "completed", "value": "a1", "warnings": ["TypeScript"]}
// ---
const pick = (o: { id: string } | null, f: (s: (string | number)) => boolean) => (o as any)?.id;
return pick({ id: "a1" }, () => true);
