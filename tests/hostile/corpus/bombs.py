"""Memory, stack, parser, output, call and timer bombs, and bad values as results."""

# ruff: noqa: E501, ISC004 -- a program is one line, however long

from __future__ import annotations

from .model import (
    DONE,
    MEMORY,
    MIB,
    OUTPUT,
    REFUSED,
    SOURCE,
    STACK,
    THROWN,
    TIME,
    Program,
    program,
)

_AMPLE_MS = 15_000

_MEMORY = {
    "push": "const a = []; for (;;) a.push(new Array(1e5).fill('x'))",
    "catch and retry": "const a = []; for (;;) { try { for (;;) a.push(new Uint8Array(1e5)); } catch {} }",
    "catch and return": "const a = []; try { for (;;) a.push(new Uint8Array(1e5)); } catch { return 'caught'; }",
    "catch, free and return": "let a = []; try { for (;;) a.push(new Uint8Array(1e5)); } catch { a = null; return 'caught'; }",
    "finally and return": "const a = []; try { for (;;) a.push('x'.repeat(1e5) + a.length); } finally { return 'caught'; }",
    "promise swallows": "const a = []; await new Promise(() => { for (;;) a.push(new Uint8Array(1e5)); }).catch(() => {}); return 'caught'",
    "thenable swallows": "const a = []; try { await {then() { for (;;) a.push(new Uint8Array(1e5)); }}; } catch {} return 'caught'",
    "string doubling": "let s = 'ab'; for (;;) s += s",
    "string repeat": "return 'a'.repeat(2 ** 29).length",
    "concatenation": "let s = ''; for (;;) s += 'abcdefgh'.repeat(1000) + s.length",
    "closures": "let f = () => 1; const all = []; for (;;) { const g = f; f = () => g() + all.length; all.push(f); }",
    "objects": "let o = null; for (;;) o = {next: o, a: 1, b: 2}",
    "Map": "const m = new Map(); for (let i = 0;; i++) m.set(i, {i})",
    "Set": "const m = new Set(); for (let i = 0;; i++) m.add('k' + i)",
    "WeakMap": "const m = new WeakMap(), k = []; for (;;) { const o = {}; k.push(o); m.set(o, o); }",
    "symbols": "const a = []; for (;;) a.push(Symbol('x'.repeat(100)))",
    "registered symbols": "const a = []; for (let i = 0;; i++) a.push(Symbol.for('k' + i))",
    "property names": "const o = {}; for (let i = 0;; i++) o['key' + i] = i",
    "shapes": "const a = []; for (let i = 0;; i++) { const o = {}; o['p' + i] = 1; a.push(o); }",
    "ArrayBuffer": "const a = []; for (;;) a.push(new ArrayBuffer(1e6))",
    "one ArrayBuffer": "return new Uint8Array(2 ** 31 - 1).length",
    "resizable ArrayBuffer": "const a = []; for (;;) { const b = new ArrayBuffer(8, {maxByteLength: 1e6}); b.resize(1e6); a.push(b); }",
    "typed array slices": "const a = [new Uint8Array(1e6)]; for (;;) a.push(a[0].slice())",
    "split": "return 'a,'.repeat(2e6).split(',').length",
    "spread": "let a = [1]; for (;;) a = [...a, ...a]",
    "flat": "let a = [1]; for (;;) a = [a, a].flat()",
    "regex matches": "return ['a'.repeat(4e6).matchAll(/a/g)].map(x => [...x]).length",
    "generators": "function* g() { const x = new Array(100).fill(1); yield x; } const a = []; for (;;) { const i = g(); i.next(); a.push(i); }",
    "async functions": "const never = new Promise(() => {}); const f = async () => { const x = new Array(100).fill(1); await never; return x; }; const a = []; for (;;) a.push(f())",
    "promises": "const a = []; for (;;) a.push(new Promise(() => {}))",
    "microtasks": "for (;;) queueMicrotask(() => {})",
    "timers": "for (;;) setTimeout(() => {}, 1e6)",
    "errors": "const a = []; for (;;) a.push(new Error('x'.repeat(1000)))",
    "error causes": "let e = null; for (;;) e = new Error('x'.repeat(100), {cause: e})",
    "BigInts": "const a = []; for (let i = 1n;; i++) a.push(i << 10000n)",
    "structuredClone": "let o = [new Array(1e4).fill(1)]; for (;;) o = [o, structuredClone(o)]",
    "JSON.parse": "return JSON.parse('[' + '[1],'.repeat(1e6) + '1]').length",
    "JSON.stringify": "let a = ['x'.repeat(1000)]; for (;;) { a = [a, a]; JSON.stringify(a); }",
    "functions": "const a = []; for (let i = 0;; i++) a.push(new Function('return ' + i))",
    "regexes": "const a = []; for (let i = 0;; i++) a.push(new RegExp('a{1,100}' + i))",
    "proxies": "const a = []; for (;;) a.push(new Proxy({}, {}))",
    "TextEncoder": "const a = []; for (;;) a.push(new TextEncoder().encode('é'.repeat(1e5)))",
    "padding": "return 'a'.padEnd(2 ** 29, 'bc').length",
    "join": "return new Array(1e6).fill('x'.repeat(100)).join('').length",
    "replaceAll": "return 'a'.repeat(1e5).replaceAll('a', 'b'.repeat(1e4)).length",
    "normalize": "return '\\u1E9B\\u0323'.repeat(3e6).normalize('NFKD').length",
    "toUpperCase": "return 'ß'.repeat(1e7).toUpperCase().length",
    "huge result": "const a = []; for (let i = 0; i < 1e7; i++) a.push(i); return a",
    "array of a billion": "return (new Array(1_000_000_000) + '').length",
    "finaliser": "const a = []; const r = new FinalizationRegistry(() => a.push(new Uint8Array(1e6))); for (;;) { r.register({}, 1); a.push(new Uint8Array(1e5)); }",
}
# Which allocation is refused, and what the engine is doing then, differs from limit to limit.
_SWEPT = ("property names", "shapes", "objects", "string doubling", "closures", "Map", "errors")
_LIMITS_KIB = (1_024, 1_100, 1_500, 2_048, 2_500, 3_000, 4_096, 6_000, 8_192, 12_000, 24_576)
_MEMORY_EITHER = {
    "flat": (MEMORY, TIME),
    "array of a billion": (MEMORY, TIME),
    "string repeat": (MEMORY, THROWN),
    "padding": (MEMORY, THROWN),
    "one ArrayBuffer": (MEMORY, THROWN),
    "string doubling": (MEMORY, THROWN),
    "microtasks": (MEMORY, TIME),
    "timers": (THROWN,),
}
_STACK = {
    "recursion": "const f = () => f() + 1; f()",
    "mutual recursion": "const f = () => g() + 1, g = () => f() + 1; f()",
    "recursion through a getter": "const o = {get x() { return this.x; }}; o.x",
    "recursion through a Proxy": "const p = new Proxy({}, {get: (t, k, r) => r[k]}); p.x",
    "recursion through toString": "const o = {toString() { return '' + this; }}; '' + o",
    "recursion through valueOf": "const o = {valueOf() { return +this; }}; +o",
    "recursion through sort": "const f = () => [2, 1].sort(f); f()",
    "recursion through map": "const f = () => [1].map(f); f()",
    "recursion through replace": "const f = () => 'a'.replace(/a/, f); f()",
    "recursion through JSON.parse": "const f = () => JSON.parse('[1]', f); f()",
    "recursion through JSON.stringify": "const o = {toJSON: () => JSON.stringify(o)}; JSON.stringify(o)",
    "recursion through apply": "const f = () => Reflect.apply(f, null, []); f()",
    "recursion through bind": "let f = () => f2(); let f2 = f.bind(null); f2()",
    "recursion through construct": "class A { constructor() { new A(); } } new A()",
    "recursion through a generator": "function* g() { yield* g(); } for (const x of g());",
    "recursion through a tag": "const f = () => f`x`; f()",
    "recursion through iterators": "const o = {[Symbol.iterator]: () => [...o]}; [...o]",
    "recursion through instanceof": "class A { static [Symbol.hasInstance](x) { return x instanceof A; } } ({}) instanceof A",
    "recursion through Function": "globalThis.f = new Function('return f()'); f()",
    "recursion through species": "class A extends Array { static get [Symbol.species]() { return new A(1).map(x => x); } } new A(1).map(x => x)",
    "recursion with large frames": "const f = (...a) => f(...a, 1, 2, 3, 4, 5, 6, 7, 8); f()",
    "recursion of async functions": "const f = async () => { await f(); }; await f()",
}
_STACK_EITHER = {"recursion with large frames": (STACK, MEMORY)}
_DEEP = {
    "deep array": "let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return a",
    "deep object": "let a = {}; for (let i = 0; i < 1e5; i++) a = {a}; return a",
    "deep text": "let a = []; for (let i = 0; i < 1e5; i++) a = [a]; text(a); return 'done'",
    "deep input of a call": "let a = {}; for (let i = 0; i < 1e5; i++) a = {a}; await tools.nothing(a); return 'done'",
    "deep cause": "let e; for (let i = 0; i < 5e4; i++) e = new Error('x', {cause: e}); throw e",
    "deep prototype chain": "let o = {}; for (let i = 0; i < 5e4; i++) o = Object.create(o); return o.missing ?? 'done'",
    "deep bound functions": "let f = () => 1; for (let i = 0; i < 5e4; i++) f = f.bind(null); return f()",
    "deep promises": "let p = Promise.resolve('done'); for (let i = 0; i < 2e4; i++) { const q = p; p = new Promise(f => f(q)); } return await p",
    "deep JSON.stringify": "let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return JSON.stringify(a).length",
    "deep JSON.parse": "return JSON.parse('['.repeat(2e5) + ']'.repeat(2e5)).length",
    "deep regex": "return new RegExp('('.repeat(1e5) + ')'.repeat(1e5)).test('a')",
    "deep Function": "return new Function('return ' + '('.repeat(1e5) + '1' + ')'.repeat(1e5))()",
    "deep structuredClone": "let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return structuredClone(a).length",
    "deep list freed": "let a = null; for (let i = 0; i < 1e5; i++) a = {a}; a = null; return 'done'",
    "deep flat": "let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return a.flat(Infinity).length",
    "deep rope": "let s = ''; for (let i = 0; i < 2e5; i++) s = s + 'a' + i % 10; return s.length > 1 ? 'done' : 0",
    "cycle": "const a = []; a.push(a); return a",
    "cycle through toJSON": "const o = {toJSON() { return o; }}; return o",
    "wide object": "const o = {}; for (let i = 0; i < 2e5; i++) o['k' + i] = i; return o",
    "growing Proxy": "return new Proxy([], {get: (t, k) => k === 'length' ? 1e9 : 'x'})",
    "getters that make more": "const make = () => ({get x() { return make(); }}); return make()",
    "array that grows while it is read": "const a = [0]; Object.defineProperty(a, 0, {get() { a.push({get y() { a.push(1); return a.length; }}); return 1; }, enumerable: true}); return a",
    "detached buffer": "const b = new ArrayBuffer(1e6), v = new Uint8Array(b); const o = {get x() { b.transfer(); return 1; }, v}; return [o.x, v.length]",
    "buffer that shrinks while it is read": "const b = new ArrayBuffer(1e5, {maxByteLength: 1e5}); const v = new Uint8Array(b); return [{get x() { b.resize(0); return 1; }}, v].length",
}
_DEEP_ALLOWED = {
    "deep array": (THROWN,),
    "deep object": (THROWN,),
    "deep text": (THROWN,),
    "deep input of a call": (THROWN,),
    "deep cause": (THROWN,),
    "deep prototype chain": (DONE,),
    "deep bound functions": (DONE, STACK, MEMORY),
    "deep promises": (DONE,),
    "deep JSON.stringify": (STACK, DONE),
    "deep JSON.parse": (STACK, THROWN, DONE),
    "deep regex": (STACK, THROWN),
    "deep Function": (STACK, THROWN),
    "deep structuredClone": (STACK, THROWN, DONE),
    "deep list freed": (DONE,),
    "deep flat": (STACK, DONE, THROWN),
    "deep rope": (DONE,),
    "cycle": (THROWN,),
    "cycle through toJSON": (DONE, THROWN),
    "wide object": (OUTPUT,),
    "growing Proxy": (OUTPUT, DONE),
    "getters that make more": (THROWN,),
    "array that grows while it is read": (OUTPUT, TIME, MEMORY, DONE),
    "detached buffer": (DONE,),
    "buffer that shrinks while it is read": (DONE,),
}
_OUTPUT = {
    "text": "for (;;) text('x'.repeat(1000))",
    "small texts": "for (;;) text('')",
    "json": "for (;;) json({a: [1, 2, 3]})",
    "console.log": "for (;;) console.log('x'.repeat(1000))",
    "console.table": "for (;;) console.table([[1, 2], [3, 4]])",
    "one text": "text('x'.repeat(1e6))",
    "catch and go on": "for (;;) { try { text('x'.repeat(1e5)); } catch {} }",
    "escapes": "text('\\u0000'.repeat(60000))",
    "surrogates": "text('\\uD800'.repeat(60000))",
    "value": "return 'x'.repeat(1e5)",
    "many small values": "return new Array(1e5).fill(0)",
    "from promises": "const f = async () => { for (;;) { text('x'.repeat(100)); await 0; } }; await Promise.all([f(), f()])",
}
_PARSER = {
    "256 KiB and one": ("1;" + " " * (256 * 1024), SOURCE),
    "3 MB": ("x;" * 1_500_000, SOURCE),
    "parentheses": ("(" * 100_000 + "1" + ")" * 100_000, SOURCE),
    "brackets": ("[" * 8_000 + "]" * 8_000, SOURCE),
    "braces": ("{" * 50_000 + "}" * 50_000, SOURCE),
    "unary": ("return " + "!" * 100_000 + "1", SOURCE),
    "minus": ("return " + "- " * 100_000 + "1", SOURCE),
    "ternary": ("return " + "1?" * 40_000 + "1" + ":1" * 40_000, SOURCE),
    "arrows": ("return " + "a=>" * 50_000 + "1", SOURCE),
    "else if": ("if (0);" + "else if (0);" * 15_000, "invalid_input/stack"),
    "templates": ("return " + "`${" * 20_000 + "1" + "}`" * 20_000, SOURCE),
    "new": ("return " + "new " * 50_000 + "X", SOURCE),
    "await": ("return " + "await " * 40_000 + "1", SOURCE),
    "typeof": ("return " + "typeof " * 30_000 + "1", SOURCE),
    "calls": ("return f" + "()" * 100_000, SOURCE),
    "members": ("return f" + ".a" * 100_000, SOURCE),
    "plus": ("return " + "1+" * 100_000 + "1", SOURCE),
    "comma": ("return (" + "1," * 100_000 + "1)", DONE),
    "exponent": ("return " + "1**" * 60_000 + "1", SOURCE),
    "nullish": ("return " + "null??" * 40_000 + "1", SOURCE),
    "labels": ("".join(f"l{i}:" for i in range(30_000)) + ";", SOURCE),
    "declarations": ("".join(f"let v{i};" for i in range(20_000)) + "return 1", DONE),
    "functions": ("".join(f"function f{i}(){{}}" for i in range(10_000)) + "return 1", DONE),
    "blocks": ("".join(f"{{let v{i};}}" for i in range(2_000)) + "return 1", DONE),
    "classes": ("class A extends (" * 5_000 + "null" + "){}" * 5_000, SOURCE),
    "destructuring": ("let " + "[" * 20_000 + "a" + "]" * 20_000 + "=1", SOURCE),
    "regex classes": ("return /" + "[a-z]" * 40_000 + "/.test('a')", DONE),
    "regex groups": ("return /" + "(" * 50_000 + ")" * 50_000 + "/.test('a')", REFUSED),
    "strings": ("return ['" + "\\u0041" * 40_000 + "'.length]", DONE),
    "unfinished string": ("return '" + "x" * 200_000, REFUSED),
    "unfinished comment": ("/*" + "x" * 200_000, REFUSED),
    "unfinished template": ("return `" + "${`" * 20_000, SOURCE),
    "bytes of all kinds": ("".join(map(chr, range(1, 0x3000))), REFUSED),
    "lone surrogates": ("return '" + "\ud800" * 1000 + "'.length", DONE),
    "NULs": ("\0" * 100_000, SOURCE),
    "array literal": ("return [" + "1," * 100_000 + "].length", DONE),
    "object literal": (
        "return Object.keys({" + ",".join(f"k{i}:1" for i in range(20_000)) + "}).length",
        DONE,
    ),
    "switch": ("switch (1) {" + "".join(f"case {i}:" for i in range(1_000)) + "} return 1", DONE),
    "identifiers": ("return 1;" + "a" * 200_000, DONE),
    "number": ("return " + "9" * 200_000, DONE),
    "BigInt literal": ("return String(" + "9" * 200_000 + "n).length", DONE),
    "fences": ("```js\n" * 20_000, REFUSED),
    "type arguments": ("let a: " + "A<" * 20_000 + "1" + ">" * 20_000, SOURCE),
    "unions": ("let a: " + "1|" * 1_000 + "1; return 1", DONE),
    "conditional types": ("type A = " + "1 extends 1 ? " * 10_000 + "1" + ": 1" * 10_000, SOURCE),
    "enums": ("enum E {" + ",".join(f"A{i}" for i in range(15_000)) + "} return E.A3", DONE),
    "namespaces": ("namespace a {" * 10_000 + "}" * 10_000, SOURCE),
    "decorators": ("@a" * 50_000 + " class A {}", SOURCE),
    "JSX": ("return " + "<a>" * 20_000 + "</a>" * 20_000, SOURCE),
}
_TYPESCRIPT = {"type arguments", "unions", "conditional types", "enums", "namespaces"}
_FLOODS = {
    "calls": ("for (;;) tools.nothing()", (MEMORY, TIME, THROWN)),
    "calls that are caught": ("for (;;) tools.nothing().catch(() => {})", (MEMORY, TIME)),
    "five thousand calls": (
        "const r = await Promise.allSettled(Array.from({length: 5000}, () => tools.nothing()));\n"
        "return [r.filter(x => x.status === 'fulfilled').length, r.length]",
        (DONE,),
    ),
    "awaited calls": ("for (;;) await tools.nothing()", (TIME, "waiting/pending_tools", THROWN)),
    "large calls": ("for (;;) tools.nothing({x: 'x'.repeat(1e6)})", (MEMORY, TIME, THROWN)),
    "intervals": (
        "for (let i = 0; i < 1e4; i++) setInterval(() => {}, 0); await new Promise(() => {})",
        (TIME, "waiting/pending_tools", MEMORY),
    ),
    "timers in timers": (
        "const f = () => { setTimeout(f, 0); setTimeout(f, 0); }; f(); await new Promise(() => {})",
        (TIME, "waiting/pending_tools", MEMORY),
    ),
    "timers of absurd delays": (
        "for (const d of [NaN, -1, Infinity, 2**31, 2**53, '9'.repeat(400), 1e308]) setTimeout(() => {}, d); return 1",
        (DONE,),
    ),
    "unhandled rejections": (
        "for (let i = 0; i < 1e4; i++) Promise.reject(new Error('x'.repeat(100))); return 1",
        (DONE,),
    ),
    "nothing to wait for": ("await new Promise(() => {})", (THROWN,)),
    "warnings": ("return Array.from({length: 1000}, () => NaN)", (DONE,)),
    "forged stack limit": (
        "throw new RangeError('Maximum call stack size exceeded')",
        (THROWN, STACK),
    ),
    "forged interrupt": ("throw new Error('interrupted')", (THROWN,)),
    "forged memory limit": ("throw new Error('out of memory')", (THROWN,)),
    "throws null": ("throw null", (THROWN,)),
    "throws a Proxy": (
        "throw new Proxy(new Error('x'), {get() { throw new Error('y'); }})",
        (THROWN,),
    ),
    "throws a revoked Proxy": (
        "const {proxy, revoke} = Proxy.revocable({}, {}); revoke(); throw proxy",
        (THROWN,),
    ),
    "returns a revoked Proxy": (
        "const {proxy, revoke} = Proxy.revocable({}, {}); revoke(); return proxy",
        (THROWN,),
    ),
    "throws a huge error": ("throw new Error('x'.repeat(5e6))", (THROWN,)),
    "error with a huge name": (
        "const e = new Error('x'); e.name = 'n'.repeat(5e6); throw e",
        (THROWN,),
    ),
    "breaks its own world": (
        "for (const o of [Object, Array, Promise, String, Function, JSON, Map, Error])\n"
        "  for (const k of Reflect.ownKeys(o.prototype ?? o)) try { delete (o.prototype ?? o)[k]; } catch {}\n"
        "return 1",
        (DONE, THROWN),
    ),
    "replaces its own world": (
        "for (const k of Reflect.ownKeys(globalThis)) try { globalThis[k] = () => { throw 1; }; } catch {}\n"
        "return 1",
        (DONE, THROWN),
    ),
    "poisons prototypes": (
        "Object.defineProperty(Object.prototype, 'then', {get() { throw new Error('p'); }, configurable: true});\n"
        "Object.defineProperty(Object.prototype, 'toJSON', {value: () => 'p'});\n"
        "Object.defineProperty(Array.prototype, 0, {set() { throw new Error('q'); }});\n"
        "return await tools.nothing()",
        (DONE, THROWN),
    ),
    "imports by computation": (
        "return await (new Function('return imp' + 'ort(\"fs\")'))()",
        (THROWN,),
    ),
}

PROGRAMS: list[Program] = [
    *(
        program(f"memory: {name}", code, *_MEMORY_EITHER.get(name, (MEMORY,)), timeout_ms=_AMPLE_MS)
        for name, code in _MEMORY.items()
    ),
    *(
        program(
            f"memory of {kib} KiB: {name}",
            _MEMORY[name],
            *_MEMORY_EITHER.get(name, (MEMORY,)),
            timeout_ms=_AMPLE_MS,
            memory=kib * 1024,
        )
        for name in _SWEPT
        for kib in _LIMITS_KIB
    ),
    *(
        program(
            f"stack: {name}",
            code,
            *_STACK_EITHER.get(name, (STACK,)),
            timeout_ms=_AMPLE_MS,
            memory=128 * MIB,
        )
        for name, code in _STACK.items()
    ),
    *(
        program(f"value: {name}", code, *_DEEP_ALLOWED[name], timeout_ms=_AMPLE_MS, memory=64 * MIB)
        for name, code in _DEEP.items()
    ),
    *(
        program(f"output: {name}", code, OUTPUT, timeout_ms=_AMPLE_MS)
        for name, code in _OUTPUT.items()
    ),
    *(
        program(
            f"parser: {name}",
            code,
            expected,
            timeout_ms=_AMPLE_MS,
            memory=64 * MIB,
            language="typescript" if name in _TYPESCRIPT else "javascript",
        )
        for name, (code, expected) in _PARSER.items()
    ),
    *(
        program(
            f"flood: {name}",
            code,
            *allowed,
            timeout_ms=1_000 if TIME in allowed else _AMPLE_MS,
            memory=64 * MIB,
        )
        for name, (code, allowed) in _FLOODS.items()
    ),
]
