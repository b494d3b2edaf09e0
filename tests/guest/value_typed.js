// @title typed arrays are arrays of numbers
// @req gst.4
// @expect {"status": "completed", "value": {"i": [-1], "f": [1.5], "u": [0, 255]}}
// ---
return { i: new Int8Array([-1]), f: new Float32Array([1.5]), u: new Uint8Array([0, 255]) };
