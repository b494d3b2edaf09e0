// @title the globals cannot be replaced
// @req gst.1
// @expect {"status": "completed", "value": ["function", "function", 3]}
// ---
try { tools.callValue = null; } catch {}
try { globalThis.tools = null; } catch {}
try { delete tools.add; } catch {}
return [typeof tools.callValue, typeof tools.add, await tools.add({ a: 1, b: 2 })];
