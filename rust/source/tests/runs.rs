//! exe.5, exe.6, exe.8: cells that run, and what they return in the engine.

#![allow(missing_docs)]

mod engine;

use engine::{JAVASCRIPT, TYPESCRIPT, value_of};

fn check(cases: &[(&str, &str)], options: codemode_source::Options) {
    let failures: Vec<String> = cases
        .iter()
        .filter_map(|(code, expected)| match value_of(code, options) {
            Ok(value) if value == *expected => None,
            other => Some(format!("{code:?}\n  expected {expected}\n  got {other:?}")),
        })
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn exe_5_the_body_of_an_async_function_runs() {
    check(
        &[
            ("return 1 + 1", "2"),
            ("const v = await Promise.resolve(5);\nreturn v;", "5"),
            ("await null; return 3", "3"),
            ("if (true) return 4; 5", "4"),
            ("return \"a\\nb\".length", "3"),
            ("return \"a\\\\nb\".length", "4"),
            ("let yield_ = 1; var yield = 2; return yield + yield_", "3"),
            ("for await (const x of [1, 2]) { if (x == 2) return x }", "2"),
            ("label: for (;;) { break label }\nreturn 1", "1"),
            ("'use strict'; return (function () { return this === undefined })()", "true"),
            ("return (function () { return this === globalThis })()", "true"),
            ("with ({ a: 3 }) { return a }", "3"),
            ("return 010", "8"),
            ("// c\nreturn 1 // trailing", "1"),
            ("return 1 <!-- html comment", "1"),
            ("let x = 1\n--> html comment\nreturn x", "1"),
            ("return 1 /* unclosed-looking } */", "1"),
            ("return /[}]\\)/.test('})')", "true"),
            ("return `}${'})'}`", "\"}})\""),
            ("using x = { [Symbol.dispose]() {} }; return 1", "1"),
            ("await using x = { async [Symbol.asyncDispose]() {} }; return 1", "1"),
            ("return \"```js\\nnot a fence\\n```\"", "\"```js\\nnot a fence\\n```\""),
            ("\u{feff}return 1", "1"),
            ("return [1, 2].map(x => x * 2)", "[2,4]"),
            (
                "class A { #x = 1; static { this.y = 2 } get x() { return this.#x } }\nreturn new A().x + A.y",
                "3",
            ),
            ("return 1_000n.toString()", "\"1000\""),
            ("return /(?<y>\\d+)/v.exec('a12').groups.y", "\"12\""),
            ("a: { break a }\nreturn 0 ?? 1", "0"),
            ("#!/usr/bin/env node\nreturn 1", "1"),
            ("return 1;\r\n", "1"),
            ("const a = 1;\rreturn a;", "1"),
            ("return `a\rb`.length", "3"),
        ],
        JAVASCRIPT,
    );
}

/// Every blank and line end of the language, wherever it may stand.
#[test]
fn exe_5_blanks_that_are_not_ascii_are_blanks() {
    let blanks = "\u{a0}\u{1680}\u{2003}\u{200a}\u{202f}\u{205f}\u{3000}\u{feff}";
    for blank in blanks.chars() {
        let cells = [
            ("async_function_f(){ return 4 }; return f_()", "4"),
            ("return_4", "4"),
            ("const_f = _x_=>_x + 1; return f(3)", "4"),
            ("const_f = (_x_)=>_x + 1; return f(3)", "4"),
            ("const_[a]_=_[4]; return a", "4"),
            ("let_{_a_}_=_{ a: 4 }; return a", "4"),
            ("const o = { get_x() { return 4 }, async_*_g() {} }; return o_._x", "4"),
            ("for (let_x_of_[4]) return x", "4"),
            ("for (const k_in_{ b: 1 }) return k", "\"b\""),
            ("class_A { static_x_=_4; static_async_f() {} }; return A.x", "4"),
            ("_4_", "4"),
            ("return '_'.length + `_${1}_`.length + /^_$/.test('_') // _", "5"),
            ("if (true)_{ return (4) }", "4"),
        ];
        let cells: Vec<_> = cells
            .iter()
            .map(|(code, value)| (code.replace('_', &blank.to_string()), *value))
            .collect();
        let cells: Vec<_> = cells.iter().map(|(code, value)| (code.as_str(), *value)).collect();
        check(&cells, JAVASCRIPT);
        check(&cells, TYPESCRIPT);
    }
    for end in ["\n", "\r", "\r\n", "\u{2028}", "\u{2029}"] {
        let cells = [
            ("let a = 1 // c_a = 4 // d_return a", "4"),
            ("let a = 1 /* c_ */ a = 4 /*_*/ return a", "4"),
            ("-1 // _4", "4"),
            ("let a = 1_--> html_return a", "1"),
            ("let a = 1 <!-- html_return a", "1"),
            ("let a = 1, b = 3_a_++b_return a + b", "5"),
            ("return_4", "null"),
            ("return '\\_'.length + (() => 4 // __)()", "4"),
        ];
        let cells: Vec<_> =
            cells.iter().map(|(code, value)| (code.replace('_', end), *value)).collect();
        let cells: Vec<_> = cells.iter().map(|(code, value)| (code.as_str(), *value)).collect();
        check(&cells, JAVASCRIPT);
    }
}

#[test]
fn exe_5_a_parameter_may_be_named_async() {
    check(
        &[
            ("const f = async => async + 1; return f(1)", "2"),
            ("return [1].map(async=>async\u{a0}=> async)[0](2)", "2"),
            (
                "for (const f of [async => async /* \u{2028} */, async async => async]) return f(1)",
                "1",
            ),
            ("const o = { async: async /* c */ => 4 }", "null"),
            ("async => async", "null"),
            ("const async = f => f; return async (3)", "3"),
            ("return (async) => {}", "null"),
        ],
        JAVASCRIPT,
    );
}

#[test]
fn exe_5_a_trailing_expression_is_the_result() {
    check(
        &[
            ("1 + 1", "2"),
            ("let x = 1; x", "1"),
            ("let x = 1; x;", "1"),
            ("let x = 1\nx // comment", "1"),
            ("let x = 1\nx; /* a */ ;;", "1"),
            ("const a = [1]\n;[2].concat(a)", "[2,1]"),
            ("const a = 1\n;(a + 1)", "2"),
            ("const a = 1;\n`t${a}`", "\"t1\""),
            ("let x; x = 5", "5"),
            ("\"hello\"", "\"hello\""),
            ("'use strict'; 'b'", "\"b\""),
            ("await Promise.resolve(7)", "7"),
            ("(async () => { return 8 })()", "8"),
            ("(async function () { return 8 })()", "8"),
            ("(() => { return 8 })();", "8"),
            ("!function () {}()", "true"),
            ("const f = async () => 9;\nf()", "9"),
            ("main();\nasync function main() { return 10 }", "10"),
            ("async function main() { return 10 }\nmain();", "10"),
            ("async function main() { return 10 }\nmain().then(x => x + 1);", "11"),
            ("async function main() { return 10 }\nawait main();", "10"),
            ("/x/.test('x')", "true"),
            ("a = 1, a + 1", "2"),
            ("({ a: 1 })", "{\"a\":1}"),
            ("{ a: 1, b: 2 }", "{\"a\":1,\"b\":2}"),
            ("{ a: 1 }", "{\"a\":1}"),
            ("{ \"a\": [1, { \"b\": null }] }", "{\"a\":[1,{\"b\":null}]}"),
            ("{ a: 1, b: 2 };", "{\"a\":1,\"b\":2}"),
            ("{ a: 1, b: 2 } // done", "{\"a\":1,\"b\":2}"),
            ("{}", "{}"),
            ("const a = 1, b = 2;\n{ a, b }", "{\"a\":1,\"b\":2}"),
            // Data, although a tool call or its arguments may look like it.
            ("{ name: 'a', input: 1 }", "{\"name\":\"a\",\"input\":1}"),
            ("{ name: 'a', args: {}, b: 1 }", "{\"name\":\"a\",\"args\":{},\"b\":1}"),
            ("({ name: 'a', tool: 'b', args: {} })", "{\"name\":\"a\",\"tool\":\"b\",\"args\":{}}"),
            ("{ name: 'a', id: 1 }", "{\"name\":\"a\",\"id\":1}"),
            ("({ function: { name: 'a' } })", "{\"function\":{\"name\":\"a\"}}"),
            ("({ input: {} })", "{\"input\":{}}"),
            ("{ source: 'a', target: 'b' }", "{\"source\":\"a\",\"target\":\"b\"}"),
            ("({ source: `${1 + 1}` })", "{\"source\":\"2\"}"),
            ("{ source: 1 }", "{\"source\":1}"),
            ("return { tool: 'get', input: {} }", "{\"tool\":\"get\",\"input\":{}}"),
            ("[1, 2]", "[1,2]"),
            ("null", "null"),
            ("let x = 1; if (x) { x }", "null"),
            ("for (const x of [1]) x", "null"),
            ("let x = 1;", "null"),
            ("const x = 1;\nfunction f() { return 2 }\nf();\nconst y = 2;", "null"),
            ("class A {}", "null"),
            ("let x = 1; { x; }", "null"),
            ("const s = `return 1`; s", "\"return 1\""),
            ("() => { return 1 }; 5", "5"),
            ("function f() { return 1 }\n2", "2"),
            ("return\n2", "null"),
            ("new Map([[1, 2]]).get(1)", "2"),
            ("x = 1\n++x", "2"),
            ("typeof nothing", "\"undefined\""),
        ],
        JAVASCRIPT,
    );
}

#[test]
fn exe_5_a_cell_that_is_one_function_is_called() {
    check(
        &[
            ("async () => { const a = 20; return a + 22; }", "42"),
            ("async () => { const a = 20; return a + 22; };", "42"),
            ("(async () => { return 1 })", "1"),
            ("((() => 1))", "1"),
            ("() => 1", "1"),
            ("() => ({ a: 1 })", "{\"a\":1}"),
            ("async () => 1 // c", "1"),
            ("(function () { return 2 })", "2"),
            ("(async function named() { return 2 });", "2"),
            ("async function main() { return 3 }", "3"),
            ("function main() { return 3 }\n", "3"),
            ("function main() { return 3 } // c", "3"),
            ("const N = 4;\nasync function run() { return N }", "4"),
            ("function helper() { return 5 }\nasync function main() { return helper() }", "5"),
            ("async function main() { return helper() }\nfunction helper() { return 5 }", "5"),
            ("const main = async () => { return 6 }", "6"),
            ("const main = async () => { return 6 };\n", "6"),
            ("function main(n = 3) { return n ? main(n - 1) : 'end' }", "\"end\""),
            ("function a() { return 1 }\nfunction main() { return 2 }", "2"),
            ("function a() { return 1 }\nfunction b() { return 2 }", "null"),
            ("function* g() { yield 1 }", "null"),
            ("function help() { return 1 }\nasync () => help()", "1"),
            ("async (globalThis) => typeof globalThis", "\"object\""),
            ("async ({ Math }) => Math.max(1, 2)", "2"),
            (
                "async (JSON, nothing) => [JSON.stringify({}), typeof nothing]",
                "[\"{}\",\"undefined\"]",
            ),
            ("async function() {\n return 1\n}", "1"),
            ("function () { return 2 }", "2"),
            ("// c\nfunction () { return 2 }", "2"),
            ("function(){ return 2 };\n// c", "2"),
            ("// c\n/* d */ async function\n() { return 2 } // e", "2"),
            ("async function ({ Math }, n) { return Math.max(1, 2) }", "2"),
            ("const N = 4;\nasync function () { return N }", "4"),
            ("function () { return help() }\nfunction help() { return 5 }", "5"),
            ("async function (): Promise<number> { return 6 }", "6"),
            ("export default function () { return 1 }\n(2)", "2"),
            ("export default async function () { return { ok: true }; }", "{\"ok\":true}"),
            ("export default async function main() { return { ok: true }; }", "{\"ok\":true}"),
            ("export default function () { return 1 }", "1"),
            ("export default async () => { return 2 }", "2"),
            ("export default async () => 2;", "2"),
            ("export default { a: 1 };", "{\"a\":1}"),
            ("export default 1 + 1", "2"),
            ("const a = 1\nexport default [a]", "[1]"),
            ("const x = 1;\nexport default async function () { return x; }", "1"),
            ("const main = async () => 5;\nexport default main;", "5"),
            ("function main() { return 5 }\nexport default main", "5"),
            ("function main() { return 5 }\nexport { main as default }", "5"),
            ("export { run as default };\nconst run = () => N;\nconst N = 5;", "5"),
            ("export default run;\nasync function run({ Math }) { return Math.max(5, 1) }", "5"),
            ("export async function run() { return 5 }\nexport default run", "5"),
            (
                "const f = (n) => n ? g(n - 1) : 'end';\nfunction g(n = 2) { return f(n) }\n\
                 export default g",
                "\"end\"",
            ),
            // What the program calls itself is not called again.
            ("let n = 0;\nfunction main() { return ++n }\nawait main();\nexport default main", "1"),
            (
                "let n = 0;\nfunction main() { return ++n }\nexport default main;\nreturn main()",
                "1",
            ),
            (
                "let n = 0;\nfunction main() { n++ }\n(() => main())();\nexport default main;\nn",
                "1",
            ),
            (
                "let n = 0;\nfunction main() { return ++n }\nconst run = () => main();\n\
                 export default main;\nawait run();",
                "1",
            ),
            ("const f = () => 4;\nconst n = f();\nconst g = () => n + 1;\nexport default g", "5"),
            ("const a = 1;\nexport default a", "1"),
            ("class A {}\nexport default A", "null"),
            ("function* g() {}\nexport default g", "null"),
            ("export const x = 1;\nreturn x;", "1"),
            ("export const x = 1;\nx", "1"),
            ("export async function main() { return 7 }", "7"),
            ("const y = 2;\nexport { y };\ny", "2"),
            ("export {};\n3", "3"),
            ("export class A { static v = 1 }\nreturn A.v", "1"),
        ],
        JAVASCRIPT,
    );
}

#[test]
fn exe_5_a_function_that_is_only_returned_is_called_or_warned_about() {
    check(
        &[
            ("return async () => { return 1 }", "1"),
            ("return (async function () { return 1 });", "1"),
            ("return () => help()\nfunction help() { return 1 }", "1"),
            ("return async ({ Math }) => Math.max(1, 0)", "1"),
            ("const f = () => 1; return f", "null"),
            ("return function* () {}", "null"),
            ("return { f: () => 1 }", "{}"),
        ],
        JAVASCRIPT,
    );
    for code in
        ["const a = 1;\nreturn async () => { return a }", "if (true) return () => 1;\nreturn 2"]
    {
        let prepared = engine::javascript(code).expect("runs");
        assert!(prepared.warnings[0].contains("never called"), "{code}");
        assert_eq!(engine::Engine::new().run(&prepared.script).as_deref(), Ok("null"), "{code}");
    }
    for code in ["const f = () => 1;\nreturn f", "return () => 1", "return [1].map(x => () => x)"] {
        assert!(engine::javascript(code).expect("runs").warnings.is_empty(), "{code}");
    }
}

#[test]
fn exe_5_one_fence_around_the_cell_is_removed() {
    check(
        &[
            ("```js\nreturn 1 + 1;\n```", "2"),
            ("~~~\nreturn 1 + 1;\n~~~", "2"),
            ("~~~js\nreturn 1 + 1;\n~~~", "2"),
            ("```\nreturn 1 + 1;\n```", "2"),
            ("```typescript\nreturn 1 + 1;\n```", "2"),
            ("```typescript\nconst x: number = 2;\nreturn x;\n```", "2"),
            ("```ts\nconst x = <T,>(y: T): T => y;\nreturn x(2);\n```\n", "2"),
            ("\n\n  ```js\n  return 2;\n  ```  \n", "2"),
            ("```js\r\nreturn 2;\r\n```\r\n", "2"),
            ("````js\nreturn 2;\n````", "2"),
            ("```js title=\"x\"\nreturn 2;\n```", "2"),
            ("```JavaScript\nreturn 2\n```", "2"),
            ("```js\nreturn 2;```", "2"),
            ("```js\nreturn 2;", "2"),
            ("```js return 2 ```", "2"),
            ("```return 2```", "2"),
            ("```json\n{\"a\": 1}\n```", "{\"a\":1}"),
            ("```js\nreturn `\\`\\`\\``.length;\n```", "3"),
            ("\u{feff}```js\nreturn 2;\n```", "2"),
            ("\u{feff}{ \"a\": 1, \"b\": 2 }", "{\"a\":1,\"b\":2}"),
            ("\u{feff}#!/usr/bin/env node\nreturn 2", "2"),
            ("```\n\u{feff}return 2;\n```", "2"),
            ("javascript\nreturn 2", "2"),
            ("typescript\nconst x: number = 2;\nx", "2"),
            ("\njs \r\n\r\n(() => 2)()", "2"),
            ("ts\n[1, 2].length", "2"),
            ("JavaScript\nfunction main() { return 2 }", "2"),
            ("js\nasync () => 2", "2"),
            ("js\n{ \"a\": 1, \"b\": 2 }", "{\"a\":1,\"b\":2}"),
            ("js\n= 5", "5"),
            ("const js = 5\njs", "5"),
            ("return `~~~\nx\n~~~`.length", "9"),
            ("/*\n```\nexample\n```\n*/\nreturn 1", "1"),
        ],
        JAVASCRIPT,
    );
}

#[test]
fn exe_6_innocent_names_are_left_alone() {
    check(
        &[
            (
                "const api = { import() { return 42; }, require: (x) => x, meta: { import: { meta: 1 } } };\n\
                 return [api.import(), api.require(\"fs\"), api.meta.import.meta];",
                "[42,\"fs\",1]",
            ),
            ("const require = (x) => x + 1; return require(1)", "2"),
            ("function require(x) { return x } return require(1)", "1"),
            ("return [1].map((require) => require)", "[1]"),
            ("return ((require) => require(1))((x) => x)", "1"),
            (
                "return 'import x from \"y\"; require(\"fs\")'",
                "\"import x from \\\"y\\\"; require(\\\"fs\\\")\"",
            ),
            ("return `import('x') require('y')`.length", "24"),
            ("// import fs from 'fs'\n/* require('x') */\nreturn 1", "1"),
            ("return /require\\('x'\\)/.test(\"require('x')\")", "true"),
            ("return typeof require", "\"undefined\""),
            (
                "const o = { require }; function require() {} return typeof o.require",
                "\"function\"",
            ),
            (
                "class A { require() { return 1 } import() { return 2 } } const a = new A(); return a.require() + a.import()",
                "3",
            ),
            (
                "return { import: 1, export: 2, require: 3 }",
                "{\"import\":1,\"export\":2,\"require\":3}",
            ),
        ],
        JAVASCRIPT,
    );
}

#[test]
fn exe_8_typescript_is_transformed() {
    let cases = [
        ("const x: number = 5; return x", "5"),
        (
            "type R = { ok: true; content: string } | { ok: false; error: string };\n\
             const r: R = { ok: true, content: \"hi\" } as R;\nreturn r.content.length;",
            "2",
        ),
        (
            "const pick = (o: { id: string } | null, f: (s: (string | number)) => boolean) => (o as any)?.id;\n\
             return pick({ id: \"a1\" }, () => true);",
            "\"a1\"",
        ),
        ("enum A { B, C = 5, D } return [A.B, A.D, A[5]]", "[0,6,\"C\"]"),
        ("enum S { X = 'x' } return S.X", "\"x\""),
        ("const enum E { A = 1 << 3 } return E.A", "8"),
        ("declare const q: number; return typeof q", "\"undefined\""),
        (
            "namespace N { export const a = 1; export namespace M { export const b = a + 1 } }\nreturn N.M.b",
            "2",
        ),
        (
            "namespace C { export let n = 0; export const inc = () => ++n; }\nC.inc(); C.inc(); return C.n",
            "2",
        ),
        (
            "namespace S { export let total = 0; for (const x of [1, 2, 3]) total += x; }\nreturn S.total",
            "6",
        ),
        (
            "namespace A.B { export let a: number, { b, c: [d] } = { b: 1, c: [2] };\n[a] = [3]; d++ }\nreturn A.B",
            "{\"a\":3,\"b\":1,\"d\":3}",
        ),
        (
            "namespace A { export var v = 1; export const get = () => v;\nexport namespace B { v++ } }\nA.v += 5; return A.get()",
            "7",
        ),
        (
            "namespace A { export let n = 1 }\nnamespace A { export const f = () => ++A.n }\nreturn [A.f(), A.n]",
            "[2,2]",
        ),
        ("namespace A { export let a = 1; export class A {} }\nreturn A.a", "1"),
        ("export namespace A { export let a = 1; a = 2 }\nreturn A.a", "2"),
        ("declare namespace A { export let a: number }\nreturn typeof A", "\"undefined\""),
        (
            "class P { constructor(private readonly a: number, public b = 2) {} get() { return this.a + this.b } }\nreturn new P(1).get()",
            "3",
        ),
        (
            "abstract class A { abstract f(): number; g() { return this.f() } }\nclass B extends A { f() { return 4 } }\nreturn new B().g()",
            "4",
        ),
        (
            "function f(a: string): string;\nfunction f(a: number): number;\nfunction f(a: any) { return a }\nreturn f(1)",
            "1",
        ),
        ("const c = { a: 1 } satisfies Record<string, number>; return c.a", "1"),
        (
            "const m: Map<string, number[]> = new Map<string, number[]>(); m.set('a', [1]); return m.get('a')![0]",
            "1",
        ),
        (
            "function id<T extends object>(x: T): T { return x } return id<{ a: number }>({ a: 1 }).a",
            "1",
        ),
        ("const x = <number>5; return x", "5"),
        ("interface A { b: string }\nconst a: A = { b: 'c' };\na.b", "\"c\""),
        ("const a = 1;\na;\ntype T = string;", "1"),
        ("async (): Promise<number> => { return 3 }", "3"),
        ("async function main(): Promise<number> { return 3 }", "3"),
        ("export default async function (): Promise<number> { return 3 }", "3"),
        ("export interface A { x: number }\nexport const a: A = { x: 1 };\nreturn a.x", "1"),
        ("function assert(x: unknown): asserts x {} assert(1); return 1", "1"),
        ("let a!: string; a = 'x'; return a", "\"x\""),
        ("class A { declare x: number; y?: string; static z: number = 1 } return A.z", "1"),
        (
            "for (const [k, v] of Object.entries({ a: 1 }) as [string, number][]) { return k + v }",
            "\"a1\"",
        ),
        (
            "try { throw new Error('x') } catch (e: unknown) { return (e as Error).message }",
            "\"x\"",
        ),
        (
            "const f = function (this: { a: number }) { return this.a }; return f.call({ a: 1 })",
            "1",
        ),
        ("return await Promise.all<number>([1, Promise.resolve(2)])", "[1,2]"),
        ("type A = typeof import('fs'); return 1", "1"),
        (
            "const t = [1, 2] as const; const [a, b]: readonly [number, number] = t; return a + b",
            "3",
        ),
        ("const s = { k: 'require(\"x\") as any' }; return (s as { k: string }).k.length", "19"),
    ];
    check(&cases, TYPESCRIPT);
    // The same sent as JavaScript: read as JavaScript or as TypeScript, with the same result.
    check(&cases, JAVASCRIPT);
}

#[test]
fn exe_8_parts_of_a_namespace_know_the_exports_of_each_other() {
    check(
        &[
            (
                "namespace A { export const x = 1 } namespace A { export const y = x + 1 }\nreturn A.y",
                "2",
            ),
            (
                "namespace A { export let n = 1; export function inc() { n++ } export class K {} export enum E { P } }\n\
             namespace A { export const y = () => { inc(); n++; return { n, k: new K() instanceof A.K, e: E.P } } }\n\
             return [A.y(), A.n]",
                "[{\"n\":3,\"k\":true,\"e\":0},3]",
            ),
            (
                "const x = 'out'; namespace A { export const x = 'in' } namespace A { export const y = x; { const x = 1; export_(x) } function export_(v: number) {} }\nreturn [A.y, x]",
                "[\"in\",\"out\"]",
            ),
            (
                "namespace A.B { export let x = 1 } namespace A { export namespace B { ({ x } = { x: 5 }); export const f = (x = 2) => x } export const g = B.f }\nreturn [A.B.x, A.g()]",
                "[5,2]",
            ),
            (
                "namespace A { export type T = number; export interface x {} } const x = 4; namespace A { export const y: T = x }\nreturn A.y",
                "4",
            ),
            (
                "const x = 1; namespace A { const x = 2 } namespace A { export const y = x }\nreturn A.y",
                "1",
            ),
        ],
        TYPESCRIPT,
    );
}

#[test]
fn exe_8_javascript_sent_as_typescript_runs() {
    check(
        &[
            ("return 1 + 1", "2"),
            ("const a = 1;\na", "1"),
            ("const a = 1;\nif (a) { return a }", "1"),
            ("{ a: 1, b: 2 }", "{\"a\":1,\"b\":2}"),
            ("\"hello\"", "\"hello\""),
            ("async () => 5", "5"),
            ("const ls = 7; return ls;", "7"),
            ("return `é😀${1}`", "\"é😀1\""),
            ("using x = { [Symbol.dispose]() {} }; return 1", "1"),
        ],
        TYPESCRIPT,
    );
}

#[test]
fn exe_8_typescript_sent_as_javascript_warns() {
    let typescript = engine::javascript("const x: number = 5;\nreturn x").expect("runs");
    assert!(typescript.warnings[0].contains("TypeScript"), "{:?}", typescript.warnings);
    let arguments =
        engine::javascript("const f = (x) => x;\nreturn f<string>(\"a\")").expect("runs");
    assert!(arguments.warnings[0].contains("TypeScript"), "{:?}", arguments.warnings);
    assert!(engine::javascript("return 1").expect("runs").warnings.is_empty());
}

#[test]
fn double_escaped_line_breaks_are_repaired_only_if_nothing_else_parses() {
    let repaired = engine::javascript("const a = 1;\\nreturn a;").expect("repaired");
    assert!(repaired.warnings[0].contains("line breaks"), "{:?}", repaired.warnings);
    check(
        &[
            ("const a = 1;\\nreturn a;", "1"),
            ("const a = \\\"x\\\";\\n\\treturn a;", "\"x\""),
            ("return \"a\\\\nb\".length", "4"),
            ("return 'a\\nb'", "\"a\\nb\""),
        ],
        JAVASCRIPT,
    );
}

#[test]
fn exe_5_a_function_that_asks_for_arguments_is_told_that_there_are_none() {
    let cells = [
        ("(ctx) => ctx", "ctx"),
        ("async (input, tools) => input", "input"),
        ("async ({ search, tools }) => search", "search"),
        ("function main(args) { return args }", "args"),
        ("export default async function (context) { return context }", "context"),
        ("const main = (context) => context;\nexport default main;", "context"),
        ("return (context) => context", "context"),
    ];
    for (code, name) in cells {
        let warnings = engine::javascript(code).expect(code).warnings;
        let told = format!("if there is none: {name}.");
        assert!(warnings.iter().any(|w| w.contains(&told)), "{code}: {warnings:?}");
    }
    for code in [
        "async () => 1",
        "async ({ tools, text: say }) => 1",
        "(tools) => 1",
        "(n = 1, { m = 2 } = {}, ...rest) => n",
        "const f = (a) => a;\nreturn f(1)",
    ] {
        assert_eq!(engine::javascript(code).expect(code).warnings, [""; 0], "{code}");
    }
}

#[test]
fn exe_5_a_return_without_its_value_is_told() {
    for code in ["return\n  5", "if (true) { return\n  { a: 1 } }\nreturn 2"] {
        let warnings = engine::javascript(code).expect(code).warnings;
        assert!(warnings.iter().any(|w| w.contains("end of a line")), "{code}: {warnings:?}");
    }
    for code in
        ["return 5\n5", "if (true) return\nreturn 2", "function f() { return\n5 }\nreturn f()"]
    {
        assert_eq!(engine::javascript(code).expect(code).warnings, [""; 0], "{code}");
    }
}

#[test]
fn exe_5_an_invisible_blank_is_a_blank() {
    let cells = [
        ("const a = 1;\nreturn\u{200b} a", "1"),
        ("\u{200b}```js\nreturn '\u{200b}'.length\n```", "1"),
    ];
    check(&cells, JAVASCRIPT);
    check(&cells, TYPESCRIPT);
}

#[test]
fn exe_8_the_regular_expressions_of_a_script_are_found() {
    let prepared =
        engine::javascript("const é = /a[/]/g;\nreturn `${/b/}` + '/c/' / 2").expect("runs");
    let found = codemode_source::regexes(&prepared.script);
    let found: Vec<_> = found
        .iter()
        .map(|r| (r.text.as_str(), prepared.map.original(r.line - 1, r.column)))
        .collect();
    assert_eq!(found, [("/a[/]/g", Some((1, 11))), ("/b/", Some((2, 11)))]);
}
