// @title ALL_TOOLS is a sorted, frozen list of entries
// @req gst.1 cat.1
// @expect {"status": "completed", "value": [true, true, true, "openclaw"]}
// ---
const ids = ALL_TOOLS.map((t) => t.id);
const sorted = [...ids].sort();
return [ids.length > 10, JSON.stringify(ids) === JSON.stringify(sorted), Object.isFrozen(ALL_TOOLS), ALL_TOOLS[0].source];
