// @title yield_control parks, and wait goes on
// @req gst.6
// @expect {"status": "completed", "value": ["before", "after"], "output": ["before", "after"], "warnings": ["paused itself: half"]}
// ---
text("before");
await yield_control("half");
text("after");
return ["before", "after"];
