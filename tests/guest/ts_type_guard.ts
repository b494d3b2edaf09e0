// @title guards and assertions
// @req exe.8
// @language typescript
// @expect {"status": "completed", "value": ["s", "n"]}
// ---
const isText = (x: unknown): x is string => typeof x === "string";
const kind = (x: string | number) => (isText(x) ? "s" : "n");
return [kind("a"), kind(1)];
