// @title plain JavaScript marked as TypeScript
// @req exe.8
// @language typescript
// @expect {"status": "completed", "value": [2, 4]}
// ---
return [1, 2].map((n) => n * 2);
