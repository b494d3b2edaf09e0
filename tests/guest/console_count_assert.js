// @title count, assert, trace
// @req gst.2
// @expect {"status": "completed", "value": 1, "output": ["default: 1", "default: 2", "Assertion failed: sum 3", "Trace: here"]}
// ---
console.count();
console.count();
console.assert(true, "never");
console.assert(1 > 2, "sum %d", 3);
console.trace("here");
return 1;
