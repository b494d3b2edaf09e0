// @title a fence without a language is removed
// @req exe.5
// @expect {"status": "completed", "value": "ok"}
// ---
```
const a = "ok";
return a;
```
