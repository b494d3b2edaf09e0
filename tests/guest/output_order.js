// @title console, text and json keep the order of the calls
// @req gst.2 gst.3
// @expect {"status": "completed", "value": {"done": true}, "output": ["a { b: 1 } [ 2 ] undefined Error: x 10n", "t", "warn", {"json": 1}, "last"]}
// ---
console.log("a", { b: 1 }, [2], undefined, new Error("x"), 10n);
text("t");
console.error("warn");
json(1);
console.info("last");
return { done: true };
