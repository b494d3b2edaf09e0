// @title any without success is an AggregateError
// @req gst.5
// @expect {"status": "completed", "value": ["AggregateError", ["a", "b"]]}
// ---
try {
  await Promise.any([tools.raises({ message: "a" }), tools.raises({ message: "b" })]);
} catch (e) {
  return [e.name, e.errors.map((x) => x.message)];
}
