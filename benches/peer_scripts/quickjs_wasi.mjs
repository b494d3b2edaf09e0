// quickjs-wasi: QuickJS in WebAssembly inside node, with snapshots.
import { readFile } from "node:fs/promises";

const begun = performance.now();
const { QuickJS } = await import("quickjs-wasi");
const bytes = await readFile(new URL(import.meta.resolve("quickjs-wasi/quickjs.wasm")));
const wasm = await WebAssembly.compile(bytes);
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
const once = async (code, read = (vm, h) => vm.dump(h)) => {
  const vm = await QuickJS.create({ wasm });
  const handle = vm.evalCode(code);
  const value = read(vm, handle);
  handle.dispose();
  vm.dispose();
  return value;
};
const check = (right) => {
  if (!right) throw new Error("wrong answer");
};
const parked = async (code) => {
  const vm = await QuickJS.create({ wasm });
  vm.evalCode(`${code}; globalThis.done = 0; globalThis.p = new Promise(r => { globalThis.go = r; }).then(x => { done = x; });`).dispose();
  vm.executePendingJobs();
  return vm;
};
const finish = async (image) => {
  const vm = await QuickJS.restore(QuickJS.deserializeSnapshot(image), wasm);
  const go = vm.global.getProp("go");
  const one = vm.newNumber(42);
  vm.callFunction(go, vm.undefined, one).dispose();
  vm.executePendingJobs();
  check(vm.global.getProp("done").toNumber() === 42);
  vm.dispose();
};
const suspension = async (code, suffix, rounds = ROUNDS) => {
  const suspends = [];
  const restores = [];
  let size = 0;
  for (let i = 0; i <= rounds; i++) {
    const vm = await parked(code);
    const before = performance.now();
    const image = QuickJS.serializeSnapshot(vm.snapshot());
    suspends.push(performance.now() - before);
    vm.dispose();
    size = image.length;
    const between = performance.now();
    await finish(image);
    restores.push(performance.now() - between);
  }
  return { size, suspend: median(suspends.slice(1)), restore: median(restores.slice(1)) };
};

await attempt("first_exec", async () => {
  const before = performance.now();
  check((await once("1 + 1")) === 2);
  return performance.now() - before;
});
await attempt("exec", () => timed(() => once("1 + 1")));
await attempt("throughput", async () => 1000 / (await timed(() => once("1 + 1"))));
await attempt("bytes", async () => {
  const small = await suspension("1");
  Object.assign(found, { suspend: small.suspend, restore: small.restore });
  return small.size;
});
await attempt("cycle", () =>
  timed(async () => {
    const vm = await parked("1");
    const image = QuickJS.serializeSnapshot(vm.snapshot());
    vm.dispose();
    await finish(image);
  }));
await attempt("bytes_5mb", async () => {
  const large = await suspension("globalThis.a = Array.from({length: 50000}, (_, i) => ({i, x: i / 3}))", "", 3);
  Object.assign(found, { suspend_5mb: large.suspend, restore_5mb: large.restore });
  return large.size;
});
await attempt("freed", async () => (await suspension("let a = new Uint8Array(2e7).fill(7); a = null", "", 1)).size / 1e6);
const wrapped = (code) => `(() => { ${code} })()`;
const FIB = wrapped("const fib = n => n < 2 ? n : fib(n - 1) + fib(n - 2); return fib(27)");
const JSON_MB = wrapped("const rows = []; for (let i = 0; i < 14000; i++) rows.push({id: i, name: 'row ' + i, tags: ['a', 'b'], ok: true, score: i / 7}); const s = JSON.stringify(rows); return JSON.parse(s).length");
const ROWS = wrapped("return Array.from({length: 10000}, (_, i) => ({id: i, name: 'row ' + i, v: i / 3}))");
await attempt("fib", async () => (check((await once(FIB)) === 196418), timed(() => once(FIB), 3)));
await attempt("json", async () => (check((await once(JSON_MB)) === 14000), timed(() => once(JSON_MB), 3)));
await attempt("string_mb", async () => timed(async () => check((await once("'abcdefgh'.repeat(131072)")).length === 1 << 20), 3));
await attempt("rows", async () => timed(async () => check((await once(ROWS)).length === 10000), 3));
console.log(JSON.stringify(found));
