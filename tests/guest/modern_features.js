// @title recent language features
// @req exe.5
// @expect {"status": "completed", "value": [3, [1, 2, 3], "c", [[1, "a"]], 2, "ok"]}
// ---
const xs = [3, 1, 2];
const m = new Map([[1, "a"]]);
label: for (const a of xs) { for (const b of xs) { if (a === b) continue label; } }
let n = null;
n ??= 2;
return [xs.at(0), xs.toSorted(), "abc".at(-1), [...m], n, xs?.missing?.deep ?? "ok"];
