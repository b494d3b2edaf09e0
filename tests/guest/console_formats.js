// @title format directives
// @req gst.2
// @expect {"status": "completed", "value": 1, "output": ["x is 4 and 5 {\"a\":1} 100%", "rest { q: 1 }"]}
// ---
console.log("%s is %d and %i %j 100%%", "x", 4, 5.9, { a: 1 });
console.log("rest", { q: 1 });
return 1;
