// @title groups indent
// @req gst.2
// @expect {"status": "completed", "value": 1, "output": ["outer", "  in\n  two", "done"]}
// ---
console.group("outer");
console.log("in\ntwo");
console.groupEnd();
console.log("done");
return 1;
