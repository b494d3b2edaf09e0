// @title structuredClone keeps kinds
// @req gst.2
// @expect {"status": "completed", "value": ["1970-01-01T00:00:00.000Z", 2, true, "DataCloneError"]}
// ---
const a = { d: new Date(0), m: new Map([[1, 2]]) };
a.self = a;
const b = structuredClone(a);
let refused;
try { structuredClone({ f() {} }); } catch (e) { refused = e.name; }
return [b.d.toISOString(), b.m.get(1), b.self === b && b !== a, refused];
