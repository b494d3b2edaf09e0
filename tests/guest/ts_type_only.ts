// @title declarations of types leave nothing
// @req exe.8
// @language typescript
// @expect {"status": "completed", "value": 1}
// ---
type Id = string & { readonly __brand: unique symbol };
interface A { x: Id }
declare const nothing: A;
return 1;
