// @title a Map and a Set are sent as object and array
// @req gst.4
// @expect {"status": "completed", "value": {"m": {"a": 1}, "s": [1, 2]}}
// ---
return await tools.callValue("id", { m: new Map([["a", 1]]), s: new Set([1, 2]) });
