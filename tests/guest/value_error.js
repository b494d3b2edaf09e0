// @title an Error is its name, message and fields
// @req gst.4
// @expect {"status": "completed", "value": {"name": "RangeError", "message": "boom", "code": 7}}
// ---
return Object.assign(new RangeError("boom"), { code: 7 });
