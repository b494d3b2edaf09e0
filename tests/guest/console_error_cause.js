// @title an error with cause and fields
// @req gst.2
// @expect {"status": "completed", "value": 1, "output": ["TypeError: outer { code: 'E1', [cause]: [Error: inner] }"]}
// ---
console.log(Object.assign(new TypeError("outer", { cause: new Error("inner") }), { code: "E1" }));
return 1;
