// @title NaN and the infinities are null with a warning
// @req gst.4
// @expect {"status": "completed", "value": [null, null, null], "warnings": ["NaN"]}
// ---
return [NaN, Infinity, undefined];
