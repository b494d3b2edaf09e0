// @title a fence with a long tag is removed
// @req exe.5
// @expect {"status": "completed", "value": 3}
// ---
```javascript
const xs = [1, 2];
return xs.reduce((a, b) => a + b, 0);
```
