// @title cancelled and forgotten timers do not hold a cell
// @req gst.2 exe.12
// @expect {"status": "completed", "value": "done", "output": []}
// ---
const t = setTimeout(() => {}, 60000);
clearTimeout(t);
setTimeout(() => text("late"), 30000);
return "done";
