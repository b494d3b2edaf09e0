// @title odd keys are data
// @req gst.4
// @expect {"status": "completed", "value": [["__proto__", "a-b", "constructor", "toJSON"], true]}
// ---
const o = await tools.odd_keys({});
return [Object.keys(o).sort(), Object.getPrototypeOf(o) === Object.prototype];
