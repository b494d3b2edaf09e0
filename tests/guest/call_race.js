// @title a race has the faster winner
// @req exe.12
// @expect {"status": "completed", "value": "fast"}
// ---
return await Promise.race([
  tools.slow_echo({ ms: 80, value: "slow" }),
  tools.slow_echo({ ms: 1, value: "fast" }),
]);
