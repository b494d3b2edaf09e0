//! gst.5: what the engine reports leads back to the text that was sent.

#![allow(missing_docs)]

mod engine;

use codemode_source::{Options, PositionMap, prepare};
use engine::{Engine, JAVASCRIPT, TYPESCRIPT};

/// Runs a cell that throws; the position of its first frame in the text that was sent.
fn thrown_at(code: &str, options: Options) -> Option<(u32, u32)> {
    let prepared = prepare(code, &options).expect(code);
    let error = Engine::new().run(&prepared.script).expect_err(code);
    let frame = error.lines().find(|l| l.contains("cell:")).expect(&error);
    let mut numbers = frame.trim_end_matches(')').rsplit(':');
    let column = numbers.next()?.parse().ok()?;
    let line: u32 = numbers.next()?.parse().ok()?;
    prepared.map.original(line - 1, column)
}

/// The position of `needle` in `code`, in code points.
fn find(code: &str, needle: &str) -> (u32, u32) {
    let before = &code[..code.find(needle).expect(needle)];
    let line = before.replace("\r\n", "\n").replace('\r', "\n");
    let line: Vec<&str> = line.split('\n').collect();
    (line.len() as u32, line.last().unwrap_or(&"").chars().count() as u32 + 1)
}

#[test]
fn gst_5_a_throw_is_located_in_the_text_that_was_sent() {
    // The engine reports the name that is called.
    let cells = [
        "const boom = () => { throw new Error('x') };\nboom();\nreturn 1",
        "const a = 1;\nthrow new Error('x')",
        "```js\nconst a = 1;\nthrow new Error('x');\n```",
        "\n\n~~~\nthrow new Error('x');\n~~~",
        "\u{feff}```js\nconst a = 1;\nthrow new Error('x');\n```",
        "\u{feff}throw new Error('x');",
        "js\nconst a = 1;\nthrow new Error('x');",
        "const é = 'ü😀'; throw new Error('x')",
        "const s = 'ü😀';\nconst t = `日本語\n`; throw new Error('x')",
        "const a = 1;\rthrow new Error('x')",
        "const a = 1;\r\n  throw new Error('x')",
        "/* a\r b\r\n c */ throw new Error('x')",
        "async () => {\n  throw new Error('x');\n}",
        "export default async function () {\n  throw new Error('x');\n}",
        "// c\nasync function () {\n  throw new Error('x');\n}",
        "const main = async () => {\n  throw new Error('x');\n}\nexport default main;",
        "return async () => {\n  throw new Error('x');\n}",
        "export const a = 1; throw new Error('x')",
        "async function main() {\n  const a = 1;\n  throw new Error('x');\n}",
        "const a = 1;\\nthrow new Error('x');",
        "#!/usr/bin/env node\nthrow new Error('x')",
        "let a\u{a0}= 1; // c\u{2028}a = 2;\u{2029} /* \u{2028} */ throw\u{3000}new Error('x')",
    ];
    for code in cells {
        assert_eq!(thrown_at(code, JAVASCRIPT), Some(find(code, "Error('x'")), "{code}");
    }
}

/// What the engine keeps no place of: the statement that throws starts at `»`.
#[test]
fn gst_5_what_has_no_place_in_the_engine_is_located_by_its_statement() {
    let cells = [
        "'x'.at(0);\n\n»const {a} = null;",
        "'x'.at(0);\nconst q = {};\n»const {a: {b}} = q;\nreturn b",
        "'x'.at(0);\n»const [a] = undefined;\nreturn a",
        "const q = {}; 'x'.at(0);\n»const {items: [first]} = q;\nreturn first",
        "let b, c;\n'x'.at(0)\n»;({b: {c}} = {});",
        "let b, c;\n'x'.at(0);\n»({b: {c}} = {})",
        "'x'.at(0)\n»for (const x of 5) {}",
        "'x'.at(0)\n»for await (const x of 5) {}",
        "'x'.at(0)\n»for (const [x] of [1]) {}",
        "let x; 'x'.at(0)\n»outer: for ([x] of [1]) {}",
        "'x'.at(0)\n»for (const {a} = null; ;) {}",
        "'x'.at(0)\n»for (const a in this.b.c) {}",
        "'x'.at(0)\n»const a = this.b.c",
        "'x'.at(0)\n»return this.b.c",
        "'x'.at(0)\n»this.b.c",
        "'x'.at(0)\n»return [...this.b]",
        "'x'.at(0)\n»const a = null.b",
        "'x'.at(0)\n»if (this.b.c) {}",
        "'x'.at(0)\n»while (this.b.c) {}",
        "'x'.at(0)\n»switch (this.b.c) {}",
        "function f() {\n  'x'.at(0);\n  »const {z: {y}} = {};\n}\nf()",
        "const f = () => {\n  switch (1) { case 1:\n  'x'.at(0);\n  »const {z: {y}} = {} }\n};\nreturn f()",
        "class A { f() {\n  'x'.at(0)\n  »const n = this.b.c } }\nreturn new A().f()",
        "class A { static {\n  'x'.at(0)\n  »const n = this.b.c } }\nreturn A",
        "function* f() {\n  'x'.at(0)\n  »const a = yield* 5 }\nreturn [...f()]",
    ];
    for marked in cells {
        let code = marked.replace('»', "");
        assert_eq!(thrown_at(&code, JAVASCRIPT), Some(find(marked, "»")), "{code}");
    }
    let code =
        "'x'.at(0);\nfor (const x of 'é') {\n  const a: number = 1;\n  const {a: {b}} = {} }";
    assert_eq!(thrown_at(code, TYPESCRIPT), Some(find(code, "const {a")));
    assert_eq!(thrown_at(code, JAVASCRIPT), Some(find(code, "const {a")));
}

/// Statements with a place of their own stay as they are.
#[test]
fn a_place_is_only_put_where_there_is_none() {
    for code in [
        "const a = await tools.get({});\nconst b = a.b.c;\nreturn b.map(x => x.y)",
        "for (let i = 0; i < 3; i++) text(i);\nif (a) b();\nreturn { a, b: [c] }",
        "class A { x = 1; f() { return this } }\nreturn new A().x",
        "const f = function () {}, g = class {}, s = `${a}`, n = -1;\nreturn 5",
        "if (a) for (const x of this.b) f(x); else return this.c.d",
    ] {
        assert_eq!(
            engine::javascript(code).expect(code).script,
            ["(async () => {\n", code, "\n})"].concat()
        );
    }
}

#[test]
fn gst_5_a_throw_in_typescript_is_located_in_the_typescript() {
    let cells = [
        "const a: number = 1;\nthrow new Error('x')",
        "interface A {\n  b: string;\n}\n\ntype C = A | null;\n\nconst f = (a: A): never => { throw new Error('x') };\nf({ b: 'x' });",
        "enum A { B, C }\nnamespace N {\n  export function f(x: number): void {\n    throw new Error('x');\n  }\n}\nN.f(1);",
        "namespace N {\n  export let é: number = 1, b = 2; export const f = (): void => {\n    throw new Error('x');\n  }\n}\nN.f();",
        "namespace N { export\nlet é: number = 1; throw new Error('x') }",
        "const é: string = 'ü😀'; throw new Error('x')",
        "/* 日本 */ const t = `日本語\n` as string; throw new Error('x')",
        "```ts\nconst a: number = 1;\nthrow new Error('x');\n```",
        "class A {\n  constructor(private a: number) {}\n\n  f(): void { throw new Error('x') }\n}\nnew A(1).f()",
        "async (): Promise<void> => {\n  throw new Error('x');\n}",
    ];
    for code in cells {
        assert_eq!(thrown_at(code, TYPESCRIPT), Some(find(code, "Error('x'")), "{code}");
    }
}

#[test]
fn gst_5_a_trailing_call_is_on_its_own_line() {
    let code = "const a = 1;\n\nmissing.call(a)";
    assert_eq!(thrown_at(code, JAVASCRIPT), Some((3, 1)));
    let code = "const a: number = 1;\n\n(missing as any).call(a)";
    assert_eq!(thrown_at(code, TYPESCRIPT).map(|p| p.0), Some(3));
}

#[test]
fn the_map_of_plain_code_is_empty() {
    for code in ["return 1 + 1", "const a = 1;\n\nreturn a;\n", "const a = 1;\r\nreturn a;"] {
        let prepared = prepare(code, &JAVASCRIPT).expect(code);
        assert_eq!(prepared.map.to_bytes(), b"");
        assert_eq!(prepared.map.original(2, 3), Some((2, 3)));
        assert_eq!(prepared.map.original(0, 3), None);
    }
}

#[test]
fn a_map_survives_as_bytes() {
    for code in ["const é: number = 1;\nenum A { B }\nA.B", "```js\n'é' + 1\n```", "1"] {
        for options in [JAVASCRIPT, TYPESCRIPT] {
            let map = prepare(code, &options).expect(code).map;
            assert_eq!(PositionMap::from_bytes(&map.to_bytes()), Some(map));
        }
    }
}

#[test]
fn bytes_that_are_no_map_are_refused() {
    for bytes in [
        &[0x80][..],
        &[1],
        &[1, 1, 2],
        &[1, 0, 2, 1],
        &[0, 0, 0, 0],
        &[1, 1, 0, 1],
        &[1, 1, 1, 1],
        &[1, 1, 2, 0],
        &[1, 1, 2, 1, 0, 1, 2, 1],
        &[0xff, 0xff, 0xff, 0xff, 0xff, 1, 1, 1],
        &[0xff, 0xff, 0xff, 0xff, 0x0f, 1, 2, 1, 1, 1, 2, 1],
    ] {
        assert_eq!(PositionMap::from_bytes(bytes), None, "{bytes:?}");
    }
}
