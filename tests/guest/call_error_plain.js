// @title a tool's error carries nothing of the host
// @req gst.5
// @expect {"status": "completed", "value": ["Error", ["message"], false, false]}
// ---
try {
  await tools.raises({ message: "m" });
} catch (e) {
  const names = Object.getOwnPropertyNames(e).filter((n) => n !== "stack" && n !== "name");
  return [e.name, names, /Traceback|RuntimeError/.test(String(e)), /\.py/.test(e.stack ?? "")];
}
