// @title boxed values are plain
// @req gst.4
// @expect {"status": "completed", "value": [1, "s", true]}
// ---
return [Object(1), Object("s"), Object(true)];
