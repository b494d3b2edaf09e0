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
