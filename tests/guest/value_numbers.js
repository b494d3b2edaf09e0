// @title zero, negative zero and large numbers
// @req gst.4
// @expect {"status": "completed", "value": [0, 0, 1e+21, 0.1, 9007199254740991]}
// ---
return [0, -0, 1e21, 0.1, Number.MAX_SAFE_INTEGER];
