// @title overloads and optional parameters
// @req exe.8
// @language typescript
// @expect {"status": "completed", "value": ["n1", "sx"]}
// ---
function f(x: number): string;
function f(x: string, y?: string): string;
function f(x: any, y?: any): string { return typeof x === "number" ? "n" + x : "s" + x; }
return [f(1), f("x")];
