// @title a last expression in TypeScript
// @req exe.5 exe.8
// @language typescript
// @expect {"status": "completed", "value": 3}
// ---
const xs: number[] = [1, 2];
xs.reduce((a: number, b: number) => a + b, 0) as number;
