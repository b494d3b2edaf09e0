// @title one fence around the cell is removed
// @req exe.5
// @expect {"status": "completed", "value": 2}
// ---
```js
return 1 + 1;
```
