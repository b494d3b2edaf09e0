// @title globals set by a cell do not reach the next
// @req exe.16
// @expect {"status": "completed", "value": "undefined"}
// ---
const before = typeof globalThis.__left;
globalThis.__left = 1;
return before;
