// @title a line of an error counts from the fence
// @req exe.5 gst.5
// @expect {"status": "failed", "error": ["ReferenceError"], "code": "internal_error", "line": 3}
// ---
```js
const a = 1;
return missingName + a;
```
