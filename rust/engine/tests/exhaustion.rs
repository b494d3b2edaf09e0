//! Memory that runs out at the n-th allocation of a cell, for n over its whole life: the host is
//! told that memory was the limit, or the cell has its right value; nothing in between.
//!
//! What counts is what the engine asks of the arena: pieces for its small blocks, and large
//! blocks. In a build with `CFLAGS=-DFORCE_GC_AT_MALLOC` that is every allocation. At most a sample
//! of them is tried; with `EXHAUSTION=all` in the environment every one.

mod common;

use codemode_engine as engine;
use codemode_wire::json::to_json;
use codemode_wire::{FromWorker, Settlement};

use common::{image_of, in_child, number, resume, start};

/// Allocations that are tried of each cell.
const SAMPLE: u64 = 60;

const CELLS: &[(&str, &str)] = &[
    (
        "strings",
        "let s = ''; for (let i = 0; i < 60; i++) s += `${i},`; return s.split(',').reverse().join('-')",
    ),
    (
        "ropes",
        "let s = 'a'; for (let i = 0; i < 12; i++) s = s + '|' + s; return [s.length, s.at(-1), s.slice(99, 105)]",
    ),
    (
        "unicode",
        "return ['é'.normalize('NFD').length, 'ß'.toUpperCase(), '\u{1F600}x'.split(''), 'İ'.toLowerCase()]",
    ),
    ("replace", "return 'a1b22c333'.replace(/[0-9]+/g, (m, at) => `<${m.length}@${at}>`)"),
    (
        "regexp",
        "return [...'2024-05-06 2025-07-08'.matchAll(/(?<y>\\d+)-(\\d+)/g)].map(m => [m.groups.y, m[2], m.index])",
    ),
    (
        "arrays",
        "const a = Array.from({length: 50}, (_, i) => (i * 7919) % 53); a.sort((x, y) => x - y); return a.splice(3, 9).concat(a.slice(-3), a.flatMap(x => [x, x]).length)",
    ),
    (
        "holes",
        "const a = [1, , 3]; a[40] = 4; a.length = 60; return [a.indexOf(4), a.filter(() => true), Object.keys(a).length]",
    ),
    ("groups", "return Object.groupBy([1, 2, 3, 4, 5, 6], n => n % 3 ? 'other' : 'third')"),
    (
        "json",
        "return JSON.parse(JSON.stringify({a: [1, 'x', null, {b: 'é\\u0000'}], d: new Date(0)}), (k, v) => v === 'x' ? [v] : v)",
    ),
    (
        "objects",
        "const o = {}; for (let i = 0; i < 40; i++) o['k' + i % 23] = {i}; delete o.k4; return Object.entries(o).map(([k, v]) => k + v.i)",
    ),
    (
        "accessors",
        "const o = Object.defineProperty({get a() { return this.b + 1 }, b: 1}, 'c', {get: () => 'c', enumerable: true}); return {...o, n: Object.getOwnPropertyDescriptors(o).c.enumerable}",
    ),
    (
        "classes",
        "class A { #x = [1]; static n = 0; get x() { A.n++; return this.#x } } class B extends A { x2 = super.x.concat(2) } const b = new B(); return [b.x2, b.x, A.n, b instanceof A]",
    ),
    (
        "closures",
        "const made = []; for (let i = 0; i < 20; i++) made.push(() => i++); return made.map(f => f() + f())",
    ),
    (
        "destructuring",
        "const {a: [x, ...r], b = 'd', ...rest} = {a: [1, 2, 3], c: 4, e: {f: 5}}; return [x, r, b, rest]",
    ),
    (
        "map_set",
        "const m = new Map(), s = new Set(); for (let i = 0; i < 70; i++) { m.set(i % 2 ? i : 'k' + i, {i}); s.add(i % 11) } for (let i = 0; i < 50; i += 2) m.delete('k' + i); return [m.size, [...s], [...m.keys()].slice(0, 9)]",
    ),
    (
        "weak",
        "const w = new WeakMap(), keys = []; for (let i = 0; i < 20; i++) { const k = {i}; w.set(k, [i]); if (i % 3 === 0) keys.push(k) } const r = new WeakRef(keys[0]); return [keys.map(k => w.get(k)[0]), r.deref().i]",
    ),
    (
        "bigint",
        "let n = 1n; for (let i = 1n; i < 40n; i++) n *= i; return [n, n % 1000003n, -n >> 70n, BigInt.asUintN(64, n), n.toString(36)]",
    ),
    (
        "generators",
        "function* g(n) { try { while (n--) yield n; } finally { yield 'end' } } const it = g(9); const out = [it.next().value, ...[].concat(it.return('r').value)]; return [...out, ...g(3)]",
    ),
    (
        "iterators",
        "return [1, 2, 3, 4].values().map(x => x * 2).filter(x => x > 2).take(2).toArray()",
    ),
    (
        "async_generators",
        "async function* g() { for (let i = 0; i < 5; i++) yield await i } const out = []; for await (const x of g()) out.push(x); return out",
    ),
    (
        "promises",
        "const log = []; await Promise.all([1, 2, 3].map(async n => { await null; log.push(n); if (n === 2) await Promise.reject(n).catch(e => log.push('c' + e)) })); return [log, await Promise.race([new Promise(() => {}), 7]), (await Promise.allSettled([Promise.reject(1)]))[0].status]",
    ),
    (
        "errors",
        "try { null.x } catch (e) { try { throw new Error('outer', {cause: e}) } catch (f) { return [f.message, f.cause.name, f.stack.split('\\n').length] } }",
    ),
    (
        "typed_arrays",
        "const b = new ArrayBuffer(64, {maxByteLength: 4096}), u = new Uint8Array(b); u.set([1, 2, 3]); b.resize(2048); const f = Float64Array.from({length: 9}, (_, i) => i / 2); return [u.length, u[2], u[2000], f.map(x => x * 2).join(), new DataView(b).getUint16(1)]",
    ),
    (
        "proxy",
        "const seen = []; const p = new Proxy({a: 1}, {get(t, k) { seen.push(String(k)); return t[k] ?? k }, ownKeys: () => ['a', 'z'], getOwnPropertyDescriptor: () => ({enumerable: true, configurable: true, value: 1})}); return [{...p}, 'q' in p, seen]",
    ),
    (
        "symbols",
        "const s = Symbol('s'), o = {[s]: 1, [Symbol.toPrimitive]: () => 42}; return [o + 1, s.description, Object.getOwnPropertySymbols(o).length, Symbol.for('x') === Symbol.for('x')]",
    ),
    (
        "eval",
        "return [new Function('a', 'return a + 1')(1), (0, eval)('var q = [1, 2]; q.length')]",
    ),
    (
        "dates",
        "return [new Date(0).toISOString(), new Date(86400000).toLocaleDateString('en-US'), Date.UTC(2024, 1, 29)]",
    ),
    (
        "clone",
        "const m = new Map([[{a: 1}, new Set(['x'])]]); m.set('self', m); const c = structuredClone(m); return [c.get('self') === c, c.size, new TextDecoder().decode(new TextEncoder().encode('é')), new URL('http://u@h/p?q=1#f').searchParams.get('q'), atob(btoa('hi'))]",
    ),
    (
        "output",
        "for (let i = 0; i < 5; i++) { text('line ' + i); json({i, list: [i]}); console.log('%s', {i}, new Map([[i, i]])) } return 'done'",
    ),
    (
        "calls",
        "const all = await Promise.all([1, 2, 3].map(n => tools.callValue('t' + n, {n, deep: [{n}]}))); return [all, await tools.call('u', {x: 'y'.repeat(500)})]",
    ),
    (
        "failing_calls",
        "try { return await tools.callValue('fail', {}) } catch (e) { return [e.name, e.message, e instanceof Error] }",
    ),
    (
        "suspended",
        "class P { #x = 4n ** 20n; get x() { return this.#x } } const p = new P(), m = new Map([[p, 'p']]), it = (function* () { yield 1; yield* [2, 3] })(); it.next(); await yield_control(); const got = await tools.callValue('t', {m: [...m.values()]}); return [got, p.x, [...it], m.get(p), /o/y.exec('o').index]",
    ),
    (
        "suspended_twice",
        "let all = []; for (const n of [1, 2]) { await yield_control('pause'); all.push(n, await new Promise(f => setTimeout(f, 0, 'timer'))); } return all",
    ),
];

/// Runs a cell to its end, with every answer that it asks for.
fn run(code: &str) -> FromWorker<'static> {
    let mut turn = start(code);
    while let FromWorker::Suspended(suspended) = &turn {
        let settlements: Vec<_> = suspended
            .requests
            .iter()
            .map(|request| Settlement {
                id: request.id,
                ok: request.target != "fail",
                value: number(i64::from(request.id) * 100).into(),
            })
            .collect();
        turn = if suspended.yielded.is_some() {
            resume(image_of(), settlements)
        } else {
            engine::settle(&settlements)
        };
    }
    turn
}

/// What a turn says, as text; a limit of memory as nothing.
fn told(turn: &FromWorker) -> Vec<u8> {
    match turn {
        FromWorker::Finished(f) => {
            let items: Vec<_> = f.output.iter().map(|i| to_json(i).expect("own bytes")).collect();
            let value = to_json(&f.value).expect("own bytes");
            format!("{value} {items:?} {:?}", f.warnings).into()
        }
        FromWorker::Failed(f) if f.limit == "memory" => Vec::new(),
        other => format!("{other:?}").into(),
    }
}

/// A cell whose allocation after `n` more fails: what is told at its end.
fn at(code: &str, n: u64) -> Result<Vec<u8>, i32> {
    in_child(|| {
        engine::on_exhaustion(|turn| {
            // As a worker does: the turn is encoded and the process ends.
            assert!(!turn.encode().is_empty() && told(&turn).is_empty());
            common::end_child(&[])
        });
        engine::fail_after(Some(n));
        told(&run(code))
    })
}

#[test]
fn exhausted_memory_is_told_or_the_value_is_right() {
    engine::build_template(1, 0..0).expect("template");
    let all = std::env::var("EXHAUSTION").is_ok_and(|v| v == "all");
    let (mut cells, mut runs, mut whole) = (0, 0, 0);
    for (name, code) in CELLS {
        let right = in_child(|| told(&run(code))).expect("a cell that ends");
        let text = String::from_utf8_lossy(&right);
        assert!(!text.starts_with("Failed"), "{name}: {text}");
        let count = in_child(|| {
            engine::fail_after(Some(u64::MAX));
            drop(run(code));
            (u64::MAX - engine::fail_after(None).expect("not used up")).to_le_bytes().into()
        });
        let count = u64::from_le_bytes(count.expect("counted").try_into().expect("eight"));
        assert!(count > 0, "{name} asks for no memory");
        let step = if all { 1 } else { count.div_ceil(SAMPLE) };
        // At and beyond the last one, for a count that differs a little from run to run.
        for n in (0..count).step_by(step as usize).chain([count - 1, count + 200]) {
            let got = at(code, n);
            let fine = got.as_ref().is_ok_and(|out| out.is_empty() || *out == right);
            assert!(fine, "{name}, allocation {n} of {count}: {got:?}, not {text}");
            whole += u64::from(got != Ok(Vec::new()));
            runs += 1;
        }
        cells += 1;
    }
    println!("{cells} cells, {runs} failed allocations, {whole} after the end of the cell");
    assert!(cells >= 30 && whole >= cells && whole < runs / 2);
}
