// @title timers of the console
// @req gst.2
// @expect {"status": "completed", "value": [true, true]}
// ---
const lines = [];
console.time("t");
console.timeEnd("t");
console.timeEnd("t");
return [typeof console.timeLog === "function", typeof console.dir === "function"];
