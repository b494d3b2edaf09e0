// @title any takes the first success
// @req exe.12
// @expect {"status": "completed", "value": 7}
// ---
return await Promise.any([tools.raises({ message: "x" }), tools.slow_echo({ ms: 5, value: 7 })]);
