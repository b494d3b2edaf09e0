// @title text before a fence is refused
// @req exe.5
// @expect {"status": "failed", "code": "invalid_input", "error": ["code only"]}
// ---
Here is the program:
```js
return 1;
```
