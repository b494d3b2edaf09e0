// @title results come in the order of completion
// @req exe.12
// @expect {"status": "completed", "value": ["S2", "S3", "S1"]}
// ---
const order = [];
const go = (name, ms) => tools.slow_echo({ ms, value: name }).then((n) => order.push(n));
await Promise.all([go("S1", 90), go("S2", 5), go("S3", 45)]);
return order;
