// @title built-ins do not show up as own enumerable globals
// @req gst.2
// @expect {"status": "completed", "value": []}
// ---
return Object.keys(globalThis).filter((k) => ["console", "URL", "setTimeout", "crypto", "structuredClone"].includes(k));
