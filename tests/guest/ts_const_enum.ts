// @title const enums work
// @req exe.8
// @language typescript
// @expect {"status": "completed", "value": 4}
// ---
const enum Flag { A = 1, B = A << 2 }
return Flag.B;
