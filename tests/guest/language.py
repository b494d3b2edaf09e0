"""Families of generated programs that use the language and its own built-ins.

Each is a function of a random generator that gives the body of an async function which returns a
value without `undefined`, functions or symbols.
"""

# ruff: noqa: E501 -- programs, not Python
from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.guest.random_js import WORDS, js, number, whole, wholes, word

if TYPE_CHECKING:
    from random import Random


def _arithmetic(r: Random, depth: int = 4) -> str:
    if depth == 0 or r.random() < 0.15:
        return f"({number(r)})"
    a, b = _arithmetic(r, depth - 1), _arithmetic(r, depth - 1)
    binary = ["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", ">>>"]
    unary = ["-", "~", "+", "Math.floor", "Math.ceil", "Math.trunc", "Math.round", "Math.sign"]
    unary += ["Math.abs", "Math.fround", "Math.clz32", "Number", "parseInt", "parseFloat", "!!"]
    two = ["Math.min", "Math.max", "Math.imul"]
    kind = r.randrange(10)
    if kind < 5:
        return f"({a} {r.choice(binary)} {b})"
    if kind < 8:
        return f"{r.choice(unary)}({a})"
    if kind == 8:
        return f"{r.choice(two)}({a}, {b})"
    return f"({a} {r.choice(['<', '>=', '===', '=='])} {b} ? {a} : {b})"


def arithmetic(r: Random) -> str:
    parts = ", ".join(f"String({_arithmetic(r)})" for _ in range(4))
    fixed = f"({number(r)}).toFixed({r.randint(0, 6)})"
    precise = f"({number(r)}).toPrecision({r.randint(1, 17)})"
    radix = f"({whole(r, 10**6)}).toString({r.choice([2, 8, 16, 36])})"
    exponent = f"({number(r)}).toExponential({r.randint(0, 10)})"
    return f"return [{parts}, {fixed}, {precise}, {radix}, {exponent}];"


def strings(r: Random) -> str:
    steps = [
        ".trim()", ".toUpperCase()", ".toLowerCase()", f".padStart({r.randint(0, 12)}, '·-')",
        f".padEnd({r.randint(0, 12)})", f".slice({whole(r, 5)}, {whole(r, 9)})",
        f".substring({whole(r, 5)}, {whole(r, 9)})", f".repeat({r.randint(0, 3)})",
        f".replaceAll({js(r.choice('abe t'))}, '<$&>')", ".normalize('NFD')", ".normalize('NFKC')",
        f".concat({word(r)})", f".split({js(r.choice(['', ' ', ',', 'a']))}).join('|')",
        ".split('').reverse().join('')", f".at({whole(r, 3)}) ?? 'none'",
    ]  # fmt: skip
    body = [f"let s = {word(r)} + {word(r)};", "const log = [];"]
    body += [f"s = String(s{step}); log.push(s);" for step in r.sample(steps, 6)]
    return (
        "\n".join(body) + f"\nreturn [log, s.length, s.indexOf({js(r.choice('aeb '))}), "
        "s.codePointAt(0) ?? null, [...s].length, encodeURIComponent(s.toWellFormed()), "
        f"s.includes('a'), s.startsWith('A'), s < {word(r)}, s.isWellFormed()];"
    )


def arrays(r: Random) -> str:
    steps = [
        f"xs.map((x, i) => x * {whole(r, 5)} + i)", f"xs.filter((x) => x % {r.randint(2, 4)} !== 0)",
        "xs.toSorted()", "xs.toSorted((a, b) => b - a)", "xs.toReversed()",
        f"xs.slice({whole(r, 3)}, {whole(r, 8)})", f"xs.toSpliced({whole(r, 3)}, {r.randint(0, 2)}, 7)",
        f"xs.concat({wholes(r, 2)})", "xs.flatMap((x) => [x, -x])", f"xs.length ? xs.with(0, {whole(r)}) : xs",
        f"xs.copyWithin({r.randint(0, 2)}, {r.randint(0, 3)})", "[...new Set(xs)]",
        f"Array.from({{ length: {r.randint(1, 4)} }}, (_, i) => xs[i] ?? null)",
    ]  # fmt: skip
    body = [f"let xs = {wholes(r, 8, 12)};", "const log = [];"]
    body += [f"xs = {step}; log.push(xs.join());" for step in r.sample(steps, 6)]
    return (
        "\n".join(body) + "\nreturn [log, xs.reduce((a, b) => a + b, 0), "
        f"xs.findLast((x) => x > {whole(r, 5)}) ?? null, xs.indexOf({whole(r, 5)}), "
        f"xs.includes({whole(r, 5)}), xs.some((x) => x < 0), xs.every((x) => x < 40), "
        "xs.lastIndexOf(xs[1]), "
        "[[1, [2, [3, [4]]]]].flat(2), [3, , 1].length, [, 1].findIndex((x) => x === undefined)];"
    )


def destructuring(r: Random) -> str:
    a, b, c = (whole(r) for _ in range(3))
    return f"""
const source = {{ a: {a}, b: {{ c: [{b}, {c}, {word(r)}], d: null }}, "k-{a}": {word(r)} }};
const {{ a, b: {{ c: [first, ...rest], d = 5, e = first + {c} }}, ["k-{a}"]: k, ...others }} = source;
let [x = {c}, , y = x * 2, ...z] = [undefined, 1, {r.choice(["undefined", str(b)])}, 3, 4];
[x, y] = [y, x];
function f({{ p = {a}, q: {{ s = p + 1 }} = {{}} }} = {{}}, ...more) {{ return [p, s, more.length]; }}
const merged = {{ ...source.b, ...(x > y ? {{ x }} : {{ y }}), c: undefined }};
return [a, first, rest, d, e, k, Object.keys(others), x, y, z, f(), f({{ p: {b} }}, 1, 2),
  f({{ q: {{ s: {c} }} }}), Object.keys(merged), source?.b?.zz?.deep ?? "none", source.b.d?.x ?? {b}];
"""


def classes(r: Random) -> str:
    n = r.randint(1, 9)
    return f"""
class Shape {{
  static count = 0;
  #id = ++Shape.count;
  sides = {n};
  constructor(name) {{ this.name = name; }}
  get id() {{ return this.#id; }}
  set id(v) {{ this.#id = v * {n}; }}
  area() {{ return this.sides * {n + 1}; }}
  static make(...args) {{ return new this(...args); }}
  #secret() {{ return this.#id + {n}; }}
  reveal() {{ return #id in this ? this.#secret() : -1; }}
  get [Symbol.toStringTag]() {{ return "Shape:" + this.name; }}
  toString() {{ return `${{this.name}}#${{this.#id}}`; }}
}}
class Square extends Shape {{
  sides = 4;
  area() {{ return super.area() ** 2 % {r.randint(50, 200)}; }}
  toJSON() {{ return {{ square: this.name, id: this.id }}; }}
  static {{ this.extra = Shape.count + {n}; }}
}}
const s = Shape.make({word(r)}), q = Square.make({word(r)});
q.id = {whole(r)};
const mixin = (Base) => class extends Base {{ mixed() {{ return "m" + this.area(); }} }};
const m = new (mixin(Square))("mix");
return [String(s), `${{q}}`, s.area(), q.area(), q.reveal(), JSON.stringify([s, q, m]), m.mixed(),
  Object.prototype.toString.call(s), q instanceof Shape, Square.extra, Shape.count,
  Object.getOwnPropertyNames(Square.prototype), Square.name, Square.length];
"""


def generators(r: Random) -> str:
    a, b, n = r.randint(0, 5), r.randint(1, 9), r.randint(3, 8)
    return f"""
const log = [];
function* fib() {{ let [x, y] = [{a}, {b}]; for (;;) {{ yield x; [x, y] = [y, x + y]; }} }}
function* take(it, n) {{ let i = 0; for (const v of it) {{ if (i++ >= n) return "end"; yield v; }} }}
function* both() {{ const r = yield* take(fib(), {n}); log.push(r); yield* [7, 8]; }}
function* echo() {{
  try {{ let got = {b}; while (true) got = (yield got * 2) ?? {a}; }}
  catch (e) {{ log.push("caught " + e); yield -1; }}
  finally {{ log.push("closed"); }}
}}
const e = echo();
const sent = [e.next().value, e.next({n}).value, e.next().value, e.throw("t").value, e.return(9).value, e.next().done];
const iterable = {{ *[Symbol.iterator]() {{ for (let i = {n}; i > 0; i -= 2) yield i; }} }};
const out = [];
for await (const v of (async function* () {{ for (const x of iterable) yield x * {b}; }})()) out.push(v);
const helpers = Array.from(take(fib(), 6)).filter((x) => x % 2).map((x) => x + {a});
const stopped = [];
for (const v of echo()) {{ stopped.push(v); if (stopped.length > 1) break; }}
return [[...both()], sent, out, helpers, stopped, log, Math.max(...iterable), Array.from(take(fib(), 4), String)];
"""


def regexes(r: Random) -> str:
    text = js(
        " ".join(r.choices([w for w in WORDS if w], k=6))
        + f" {whole(r, 9999)} 2024-0{r.randint(1, 9)}-1{r.randint(0, 9)}"
    )
    patterns = [
        r"/[a-z]+/g", r"/\d+/g", r"/(?<first>\w)(\w*)/g", r"/\b\w/g", r"/[^\x00-\x7f]+/gu",
        r"/(\d{4})-(\d\d)-(\d\d)/g", r"/\p{L}+/gu", r"/(?<=\s)\S+/g", r"/(a)|(b)|(e)/gi",
        r"/\s+(?!$)/g", r"/(.)\1/g", r"/^.|.$/gm", r"/[\p{Lu}--[A-B]]/gv", r"/(?:x|y|z)?[,;]/g",
    ]  # fmt: skip
    body = [f"const s = {text};", "const out = [];"]
    body += [
        f"out.push(s.match({p}), s.replace({p}, (m) => `<${{m.length}}>`), s.search({p}));"
        for p in r.sample(patterns, 5)
    ]
    return (
        "\n".join(body)
        + r"""
const d = /(?<y>\d{4})-(?<m>\d\d)-(?<d>\d\d)/d.exec(s);
const sticky = /\w+/y; sticky.lastIndex = 2;
return [out, { ...d.groups }, d.indices.groups.m, d.index, sticky.test(s), sticky.lastIndex,
  [...s.matchAll(/(\w)(\w)?/g)].slice(0, 4).map((m) => [m[0], m[2] ?? null, m.index]),
  s.split(/(\s|-)/).length, s.replace(/(\d+)-(\d+)/, "$2/$1$$"), String(/a\/b/giu), /[/]/.source];
"""
    )


def collections(r: Random) -> str:
    return f"""
const m = new Map({js([[whole(r, 4), r.choice(WORDS)] for _ in range(6)])});
const s = new Set({wholes(r, 8, 5)}), t = new Set({wholes(r, 5, 5)});
m.set(NaN, 1).set("k", {whole(r)}); m.delete({whole(r, 4)});
const order = [];
for (const [k, v] of m) {{ order.push([String(k), v]); if (order.length === 2) m.set("late", 0); }}
const sorted = (x) => [...x].sort((a, b) => a - b);
const o = {{ b: 1, [{whole(r, 3)}]: 2, a: 3, 1: 4, [{word(r)}]: 5 }};
delete o.b; o.b = 6;
const w = new WeakMap([[o, {whole(r)}]]);
return [order, m.size, m.has(NaN), m.get("k"), sorted(s), s.has({whole(r, 5)}), Object.entries(o), w.get(o), w.has({{}}),
  [...m.keys()].map(String), [...s].slice(0, 3), Object.fromEntries([...m].map(([k, v]) => [k, v])),
  sorted([...s].filter((x) => t.has(x))),
  JSON.stringify([...new Set([0, -0, NaN, NaN, "0"])].map(String)), Object.is([...new Set([-0])][0], 0)];
"""


def json_text(r: Random) -> str:
    def tree(depth: int) -> object:
        if depth == 0:
            return r.choice(
                [None, True, False, whole(r), r.uniform(-9, 9), r.choice(WORDS), 1e21, 5e-7]
            )
        if r.random() < 0.5:
            return [tree(depth - 1) for _ in range(r.randint(0, 3))]
        return {
            r.choice([*WORDS, "toString", "2", "10"]): tree(depth - 1)
            for _ in range(r.randint(0, 4))
        }

    data = tree(4)
    indent = r.choice(["0", "2", '"\\t"', '" ->"'])
    bad = js(
        r.choice(['{"a":1,}', "[1 2]", "{'a':1}", "01", '"\\x"', "", "nul", '{"a":1}}', "\u00a01"])
    )
    return f"""
const text = {js(json.dumps(data))};
const v = JSON.parse(text);
let refused = "no";
try {{ JSON.parse({bad}); }} catch (e) {{ refused = e.name; }}
const seen = [];
JSON.parse(text, function (k, x) {{ if (seen.length < 20) seen.push(k); return x; }});
return [JSON.stringify(v), JSON.stringify(v, null, {indent}), refused, seen,
  JSON.stringify({{ u: undefined, f() {{}}, d: new Date({whole(r, 10**12)}), n: NaN, i: [undefined, Infinity], s: Object("x") }}),
  JSON.stringify({{ a: {word(r)}, b: "\\u2028\\ud800\\u0007", c: {{ toJSON: (k) => "at " + k }} }}),
  JSON.stringify({{ z: 1, a: {{ z: 2, q: 3 }} }}, ["a", "z"]), JSON.stringify(v, (k, x) => (typeof x === "number" ? -x : x))];
"""


def dates(r: Random) -> str:
    t = r.choice([0, r.randint(-(10**13), 10**13), r.randint(0, 2 * 10**12)])
    iso = f"20{r.randint(10, 39)}-{r.randint(1, 12):02}-{r.randint(1, 28):02}"
    return f"""
const d = new Date({t}), e = new Date("{iso}T{r.randint(0, 23):02}:{r.randint(0, 59):02}:07.{r.randint(0, 999):03}Z");
const log = [d.toISOString(), d.getUTCDay(), d.toUTCString(), JSON.stringify(e), Date.UTC({r.randint(1970, 2050)}, {r.randint(-3, 15)}, {whole(r, 40)})];
e.setUTCMonth({r.randint(-2, 14)}); log.push(e.toISOString());
e.setUTCDate({whole(r, 60)}); e.setUTCHours({whole(r, 50)}, {whole(r, 90)}); log.push(e.getTime());
const days = Math.floor((Date.parse("{iso}") - {t}) / 86400000);
return [log, days, Date.parse("{iso}T10:00:00+0{r.randint(1, 9)}:30"), String(new Date(NaN)), isNaN(new Date("no date")),
  new Date({r.randint(1980, 2030)}, {r.randint(0, 11)}, {r.randint(1, 28)}).toISOString(), d.toLocaleDateString(), e.toLocaleString("en-US"),
  d.getUTCFullYear(), e > d, new Date("{iso}").toLocaleDateString("en-US", {{ month: "short", day: "numeric", year: "numeric" }})];
"""


def control_flow(r: Random) -> str:
    n, k = r.randint(4, 9), r.randint(2, 5)
    return f"""
const log = [];
outer: for (let i = 0; i < {n}; i++) {{
  inner: for (let j = 0; ; j++) {{
    if (j > i) break inner;
    if ((i * j) % {k} === 1) continue outer;
    if (i + j === {n + 2}) break outer;
    log.push(i * 10 + j);
  }}
}}
block: {{ log.push("in"); if ({n} > {k}) break block; log.push("never"); }}
const fs = []; for (let i = 0; i < 3; i++) fs.push(() => i * {k}); var gs = []; for (var v = 0; v < 3; v++) gs.push(() => v);
function tricky(x) {{
  try {{ if (x % 3 === 0) throw new RangeError("r" + x); return "try" + x; }}
  catch ({{ name, message }}) {{ return name + message; }}
  finally {{ log.push("f" + x); if (x === {k}) return "finally"; }}
}}
const sw = (x) => {{ switch (x % 4) {{ case 0: return "zero"; case 1: log.push("fall"); case 2: return "two"; default: return "d"; }} }};
let w = {n}, steps = 0; do {{ w = w % 2 ? w * 3 + 1 : w / 2; steps++; }} while (w !== 1 && steps < 50);
const keys = []; for (const key in {{ b: 1, 2: 1, a: 1, 1: 1 }}) keys.push(key);
return [log, fs.map((f) => f()), gs.map((g) => g()), [0, 1, 2, 3, {k}].map(tricky), [0, 1, 2, 3, 4].map(sw), steps, keys,
  hoisted(), typeof later, ((a, b = a + {k}) => a * b)({n}), (function () {{ return arguments.length; }})(1, 2, 3), void 0 ?? "v", (1, {k})];
function hoisted() {{ return "h{n}"; }}
var later = 1;
"""


def templates(r: Random) -> str:
    return f"""
const tag = (parts, ...values) => parts.raw.map((p, i) => p + (i < values.length ? `[${{values[i]}}]` : "")).join("");
const a = {word(r)}, n = {whole(r)};
const count = (s) => s.length;
return [tag`x${{a}}y\\n${{n}}\\u0041`, `${{a}}-${{n + 1}}-${{[1, 2]}}-${{{{}}}}-${{null}}`, count`a${{n}}b${{n}}`, String.raw`\\t${{n}}\\d`,
  `outer ${{`inner ${{n > 0 ? `deep ${{a}}` : "none"}}`}}`, `line
break \\
joined`, ((s) => s === ((x) => x)`q`)(1), typeof `x`, `\\x41\\u{{1F600}}\\0`.length,
  `${{{{ toString() {{ return "own"; }}, valueOf() {{ return 1; }} }}}}`, {{ valueOf: () => n }} + 1, [n] + [a], [] + {{}}, "" + Object("s")];
"""


def bigints(r: Random) -> str:
    a, b = r.randint(-(10**40), 10**40), r.randint(1, 10**20)
    return f"""
const a = {a}n, b = {b}n, s = (x) => x.toString();
let f = 1n; for (let i = 1n; i <= {r.randint(5, 40)}n; i++) f *= i;
let refused; try {{ a + 1; }} catch (e) {{ refused = e.name; }}
let zero; try {{ a / 0n; }} catch (e) {{ zero = e.name; }}
return [s(a + b), s(a * b), s(a / b), s(a % b), s(a - b), s(-a), s(a & b), s(a | b), s(a ^ b), s(a >> {r.randint(1, 70)}n), s(a << {r.randint(1, 70)}n), s(~a),
  s(b ** {r.randint(0, 5)}n), s(f), a < b, a == {whole(r)}, 2n > 1, s(BigInt.asUintN(64, a)), s(BigInt.asIntN(16, b)), a.toString({r.choice([2, 16, 36])}),
  Number(b), s(BigInt("0x" + (b < 0n ? -b : b).toString(16))), refused, zero, typeof a, s(BigInt(Number.MAX_SAFE_INTEGER) + 2n), parseInt("12n"), [3n, 1n, 2n].sort().map(s), b > {whole(r)}.5];
"""


def promises(r: Random) -> str:
    delays = [r.randint(0, 4) for _ in range(4)]
    return f"""
const log = [];
const tick = async (name, n) => {{ for (let i = 0; i < n; i++) await null; log.push(name); return name; }};
const thenable = {{ then(f) {{ log.push("then"); f({whole(r)}); }} }};
const fails = async (name, n) => {{ await tick(name, n); throw new Error(name); }};
queueMicrotask(() => log.push("micro"));
Promise.resolve().then(() => log.push("p1")).then(() => log.push("p2")).finally(() => log.push("p3"));
const all = Promise.all([tick("a", {delays[0]}), tick("b", {delays[1]}), thenable, 5]);
const race = Promise.race([tick("c", {delays[2]}), tick("d", {delays[3]})]);
log.push("sync");
const settled = await Promise.allSettled([fails("x", {delays[1]}), tick("e", {delays[0]}), Promise.reject(1)]);
const any = await Promise.any([fails("y", {delays[3]}), tick("g", {delays[2]})]);
let none; try {{ await Promise.any([fails("z", 1), Promise.reject(new Error("w"))]); }} catch (e) {{ none = e.errors.map((x) => x.message); }}
const chain = await Promise.reject(new TypeError("t")).catch((e) => e.name).then((n) => [n, {whole(r)}]);
await (async () => {{ try {{ return await fails("q", {delays[0]}); }} catch (e) {{ log.push("caught " + e.message); }} finally {{ log.push("finally"); }} }})();
let resolve; const promise = new Promise((f) => {{ resolve = f; }});
tick("r", {delays[1]}).then(resolve);
return [await all, await race, settled.map((s) => s.status + (s.value ?? s.reason.message ?? s.reason)), any, none, chain, await promise, log];
"""


def sorting(r: Random) -> str:
    rows = [{"id": i, "k": r.randint(0, 4), "name": r.choice(WORDS)} for i in range(12)]
    return f"""
const rows = {js(rows)};
const by = (f) => (a, b) => (f(a) < f(b) ? -1 : f(a) > f(b) ? 1 : 0);
const stable = rows.toSorted(by((x) => x.k)).map((x) => x.id);
const names = rows.map((x) => x.name);
const totals = rows.reduce((acc, {{ k, id }}) => ({{ ...acc, [k]: (acc[k] ?? 0) + id }}), {{}});
const copy = structuredClone({{ rows, map: new Map([[1, {{ d: new Date({whole(r, 10**9)}) }}]]) }});
copy.rows[0].id = -1;
const memo = new Map(); const f = (n) => memo.get(n) ?? (memo.set(n, n < 2 ? n : f(n - 1) + f(n - 2)), memo.get(n));
return [stable, names.toSorted(), names.toSorted((a, b) => a.localeCompare(b)), totals, rows[0].id, copy.map.get(1).d.toISOString(),
  f({r.randint(10, 60)}), rows.map((x) => x.k).sort(), {wholes(r, 6, 200)}.sort(), Math.max(...rows.map((x) => x.k)),
  Object.entries(totals).sort(([p, a], [q, b]) => b - a || p - q).map(([k]) => k), rows.filter((x) => x.name).length,
  [..."{r.choice(["banana", "mississippi", "abracadabra"])}"].reduce((m, c) => ({{ ...m, [c]: (m[c] || 0) + 1 }}), {{}})];
"""
