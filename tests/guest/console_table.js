// @title a table
// @req gst.2
// @expect {"status": "completed", "value": 1, "output": ["| (index) | a | b |\n| --- | --- | --- |\n| 0 | 1 | 'x' |\n| 1 | 2 |  |"]}
// ---
console.table([{ a: 1, b: "x" }, { a: 2 }]);
return 1;
