// @title all fails with the first failure and the rest is finished
// @req exe.12
// @expect {"status": "completed", "value": "down", "output": ["caught down"]}
// ---
let seen;
try {
  await Promise.all([tools.slow_echo({ ms: 40, value: 1 }), tools.raises({ message: "down" })]);
} catch (e) {
  seen = e.message;
  text("caught " + e.message);
}
return seen;
