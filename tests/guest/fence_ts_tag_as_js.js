// @title TypeScript in a fence, sent as JavaScript, runs with a warning
// @req exe.5 exe.8
// @language javascript
// @expect {"status": "completed", "value": 4, "warnings": ["TypeScript"]}
// ---
```typescript
const n: number = 4;
return n;
```
