// @title performance.now goes on
// @req gst.2
// @expect {"status": "completed", "value": [true, true]}
// ---
const t = performance.now();
await tools.slow_echo({ ms: 5 });
return [performance.now() - t >= 4, performance.timeOrigin > 1.6e12];
