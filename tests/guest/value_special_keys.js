// @title special keys are data
// @req gst.4
// @expect {"status": "completed", "value": {"__proto__": {"x": 1}, "toJSON": "v", "constructor": 2}}
// ---
return JSON.parse('{"__proto__":{"x":1},"toJSON":"v","constructor":2}');
