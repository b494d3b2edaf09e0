// @title sleeping
// @req gst.2
// @expect {"status": "completed", "value": true}
// ---
const t0 = Date.now();
await new Promise((resolve) => setTimeout(resolve, 30));
return Date.now() - t0 >= 25;
