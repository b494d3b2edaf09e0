// @title a retry loop
// @req exe.11 gst.5
// @expect {"status": "completed", "value": ["attempt 1", "attempt 2", "gave up"]}
// ---
const log = [];
for (let i = 1; i <= 2; i++) {
  try {
    await tools.raises({ message: `attempt ${i}` });
  } catch (e) {
    log.push(e.message);
  }
}
log.push("gave up");
return log;
