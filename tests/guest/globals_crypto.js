// @title random ids
// @req gst.2
// @expect {"status": "completed", "value": [36, true, "QuotaExceededError", "TypeMismatchError"]}
// ---
const names = [];
for (const a of [new Uint8Array(65537), new Float64Array(1)]) {
  try { crypto.getRandomValues(a); } catch (e) { names.push(e.name); }
}
return [crypto.randomUUID().length, crypto.randomUUID() !== crypto.randomUUID(), ...names];
