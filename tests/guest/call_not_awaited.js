// @title a call that was not awaited is made exactly once
// @req exe.12
// @expect {"status": "completed", "value": "sent"}
// ---
tools.create_note({ title: "fire and forget" });
return "sent";
