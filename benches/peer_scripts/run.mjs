// run: QuickJS in WebAssembly in worker threads of node.
const begun = performance.now();
const { createRunner } = await import("run");
const found = { import_used: performance.now() - begun };
const ROUNDS = Number(process.argv[2] ?? 15);

const median = (times) => times.sort((a, b) => a - b)[times.length >> 1];
const timed = async (work, rounds = ROUNDS) => {
  await work();
  const times = [];
  for (let i = 0; i < rounds; i++) {
    const before = performance.now();
    await work();
    times.push(performance.now() - before);
  }
  return median(times);
};
const attempt = async (name, measure) => {
  try {
    found[name] = await measure();
  } catch (error) {
    console.error(name, String(error).slice(0, 200));
  }
};
const check = (right) => {
  if (!right) throw new Error("wrong answer");
};
const runner = createRunner({ hostFunctions: { tools: { get: async (n) => n } } });
const once = async (source) => {
  const result = await runner.run({ source });
  check(result.status === "completed");
  return result.value;
};

await attempt("first_exec", async () => {
  const before = performance.now();
  check((await once("return 1 + 1")) === 2);
  return performance.now() - before;
});
await attempt("exec", () => timed(() => once("return 1 + 1")));
await attempt("throughput", async () => 1000 / (await timed(() => once("return 1 + 1"))));
await attempt("call", async () => {
  const code = "let s = 0; for (let n = 0; n < 100; n++) s += await tools.get(n); return s";
  check((await once(code)) === 4950);
  const empty = await timed(() => once("return 1"), 5);
  return ((await timed(() => once(code), 5)) - empty) * 10;
});
await attempt("fib", async () => {
  const code = "const fib = n => n < 2 ? n : fib(n - 1) + fib(n - 2); return fib(27)";
  check((await once(code)) === 196418);
  return timed(() => once(code), 3);
});
await attempt("json", async () => {
  const code = "const rows = []; for (let i = 0; i < 14000; i++) rows.push({id: i, name: 'row ' + i, tags: ['a', 'b'], ok: true, score: i / 7}); const s = JSON.stringify(rows); return JSON.parse(s).length";
  check((await once(code)) === 14000);
  return timed(() => once(code), 3);
});
await attempt("string_mb", () => timed(async () => check((await once("return 'abcdefgh'.repeat(131072)")).length === 1 << 20), 3));
await attempt("rows", () => timed(async () => check((await once("return Array.from({length: 10000}, (_, i) => ({id: i, name: 'row ' + i, v: i / 3}))")).length === 10000), 3));
console.log(JSON.stringify(found));
process.exit(0);
