//! exe.3, exe.5–exe.8: texts that are refused, and what is said.

#![allow(missing_docs)]

mod engine;

use codemode_source::{MAX_SOURCE_BYTES, Options, prepare};
use engine::{JAVASCRIPT, TYPESCRIPT};

/// Code, a part of the message, the location.
type Case = (&'static str, &'static str, Option<(u32, u32)>);

fn check(cases: &[Case], options: Options) {
    let failures: Vec<String> = cases
        .iter()
        .filter_map(|(code, part, location)| match prepare(code, &options) {
            Err(r) if r.message.contains(part) && r.location == *location => None,
            other => {
                Some(format!("{code:?}\n  expected {part:?} at {location:?}\n  got {other:?}"))
            }
        })
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn exe_6_module_loads_are_refused() {
    let at = |line, column| Some((line, column));
    let cases = [
        ("return (0, require)(\"node:fs\");", "odule access is disabled", at(1, 8)),
        ("r\\u0065quire(\"fs\")", "odule access is disabled", at(1, 1)),
        ("return r\\u{65}quire(\"fs\")", "odule access is disabled", at(1, 8)),
        ("require?.(\"fs\")", "odule access is disabled", at(1, 1)),
        ("(require)(\"fs\")", "odule access is disabled", at(1, 1)),
        ("new require(\"fs\")", "odule access is disabled", at(1, 1)),
        ("require`fs`", "odule access is disabled", at(1, 1)),
        ("require.call(null, \"fs\")", "odule access is disabled", at(1, 1)),
        ("(x || require)(\"fs\")", "odule access is disabled", at(1, 1)),
        ("const fs = require(\"fs\");\nreturn 1", "odule access is disabled", at(1, 12)),
        ("const a = 1;\nconst { x } = require(\"fs\");", "odule access is disabled", at(2, 15)),
        ("function f() { return require('fs') } return 1", "odule access is disabled", at(1, 23)),
        ("{ const require = 1 } require('fs')", "odule access is disabled", at(1, 23)),
        ("await import(\"fs\")", "odule access is disabled", at(1, 7)),
        ("return import('x').then(m => m)", "odule access is disabled", at(1, 8)),
        ("`${import(\"x\")}`", "odule access is disabled", at(1, 4)),
        ("`${`${require(\"x\")}`}`", "odule access is disabled", at(1, 7)),
        ("return import.meta.url", "odule access is disabled", at(1, 8)),
        ("import fs from \"fs\";\nreturn 1", "odule access is disabled", at(1, 1)),
        ("import \"fs\"", "odule access is disabled", at(1, 1)),
        ("const a = 1;\nimport * as b from 'b';\nb", "odule access is disabled", at(2, 1)),
        ("import { a } from './a.js';\nawait a();", "odule access is disabled", at(1, 1)),
        ("export * from \"x\"", "odule access is disabled", at(1, 1)),
        ("export { a } from \"x\"", "odule access is disabled", at(1, 1)),
        ("export const a = await import('x')", "odule access is disabled", at(1, 24)),
        ("```js\nimport fs from 'fs';\n```", "odule access is disabled", at(2, 1)),
    ];
    check(&cases, JAVASCRIPT);
    check(&cases, TYPESCRIPT);
    check(
        &[
            ("import type { A } from \"a\";\nreturn 1", "odule access is disabled", at(1, 1)),
            ("import fs = require(\"fs\");\nreturn 1", "odule access is disabled", at(1, 1)),
            ("const x: number = 1;\nreturn require('fs')", "odule access is disabled", at(2, 8)),
            ("declare const require: any;\nrequire('fs')", "odule access is disabled", at(2, 1)),
            ("(require as any)('fs')", "odule access is disabled", at(1, 1)),
            ("require!('fs')", "odule access is disabled", at(1, 1)),
        ],
        TYPESCRIPT,
    );
}

#[test]
fn what_does_not_parse_is_located_in_the_text_that_was_sent() {
    let at = |line, column| Some((line, column));
    check(
        &[
            ("return “hello”;", "typographic quotes", at(1, 8)),
            ("const s = ‘x’;\nreturn s", "typographic quotes", at(1, 11)),
            ("return { a: 1;", "SyntaxError: ", at(1, 14)),
            ("const = 5;", "SyntaxError: ", at(1, 7)),
            ("if (x) {\n  foo(", "cut off", at(2, 7)),
            ("function f() {", "cut off", at(1, 15)),
            ("return [1, 2", "cut off", at(1, 13)),
            ("return 'abc", "SyntaxError: ", at(1, 8)),
            ("return `abc", "SyntaxError: ", at(1, 8)),
            ("return 1 }", "SyntaxError: ", at(1, 10)),
            ("const a = 1;\nconst a = 2;", "SyntaxError: ", at(2, 7)),
            ("let a; var a;", "SyntaxError: ", at(1, 12)),
            ("break", "SyntaxError: ", at(1, 1)),
            ("const x;", "SyntaxError: ", at(1, 7)),
            ("if (true) function () {}", "SyntaxError: ", at(1, 20)),
            ("function () { const = 5 }", "SyntaxError: ", at(1, 21)),
            ("```js\nconst = 5;\n```", "SyntaxError: ", at(2, 7)),
            ("\n\n```ts\nconst a = 1;\nconst = 5;\n```", "SyntaxError: ", at(5, 7)),
            ("const é = '😀'; const = 5", "SyntaxError: ", at(1, 22)),
            ("js\nconst = 5;", "SyntaxError: ", at(2, 7)),
            ("\u{feff}const = 5;", "SyntaxError: ", at(1, 8)),
            ("\u{feff}```js\nconst = 5;\n```", "SyntaxError: ", at(2, 7)),
            ("x\n}); ((async () => {", "SyntaxError: ", at(2, 1)),
            ("})\n(async () => {", "SyntaxError: ", at(1, 1)),
            ("}, async () => {", "SyntaxError: ", at(1, 1)),
            ("}; {", "SyntaxError: ", at(1, 1)),
            ("<div>hi</div>", "JSX", at(1, 9)),
            ("const el = <div>hi</div>;\nreturn el", "JSX", at(1, 20)),
            ("const f = a =&gt; a;", "HTML entities", at(1, 14)),
            ("if (a &amp;&amp; b) {}", "HTML entities", at(1, 11)),
            ("return a – b", "Write `-` for `–`.", at(1, 9)),
            ("const a = 1；\nreturn a", "Write `;` for the wide `；`.", at(1, 12)),
            ("return get（{a: 1}）", "Write `(` for the wide `（`.", at(1, 11)),
            ("return a ≥ b", "Write `>=` for `≥`.", at(1, 9)),
            ("const a = …;", "Write out what", at(1, 11)),
            ("return a \u{2060}+ 1", "invisible character, U+2060", at(1, 9)),
            ("const x = {a=1}", "{ name: value }", at(1, 12)),
            ("return get(a: 1)", "no named arguments", at(1, 13)),
            ("SELECT * FROM x WHERE y = 1", "SQL", at(1, 14)),
            ("x = 5 if True else 6", "Python", at(1, 6)),
            ("if not true: x", "Python", at(1, 4)),
            ("for x in [1, 2]: y", "Python", at(1, 5)),
            ("return a and b", "Write && for and", at(1, 9)),
            ("return f'{x}'", "template", at(1, 9)),
            ("return 1\n\nThis returns 1.", "Send code only", at(3, 5)),
            ("return a;\n\nThis program returns a, which is 1", "Send code only", at(3, 5)),
            ("> ```js\n> return 1\n> ```", "Send code only", at(1, 1)),
            ("function main() { return 1 }()", "in parentheses to call it", at(1, 29)),
            ("async () => { return 1 }()", "in parentheses to call it", at(1, 25)),
            ("# note\nreturn 1", "Comments start with //", at(1, 2)),
            ("[1].map(x => { await f(x) })", "Write `async` before", at(1, 16)),
            ("return \"a\nb\"", "backquotes", at(1, 8)),
            ("new.target", "SyntaxError: ", at(1, 1)),
            ("super.x", "SyntaxError: ", at(1, 1)),
            ("export const a = 1;\nexport const a = 2;", "SyntaxError: ", at(2, 14)),
            ("const a: number = 1;\nconst b: = 2;", "SyntaxError: ", at(2, 10)),
            ("const a = 1;\r\nconst = 5;", "SyntaxError: ", at(2, 7)),
            ("const a = 1;\rconst = 5;", "SyntaxError: ", at(2, 7)),
        ],
        JAVASCRIPT,
    );
}

#[test]
fn exe_8_typescript_that_cannot_run_is_refused() {
    let at = |line, column| Some((line, column));
    check(
        &[
            ("const a: = 1", "SyntaxError: ", at(1, 10)),
            ("enum A { B\nreturn 1", "SyntaxError: ", at(2, 1)),
            ("@dec class A {}\nreturn 1", "Decorators cannot run here", at(1, 1)),
            ("class A { @dec m() {} }\nreturn 1", "Decorators cannot run here", at(1, 11)),
            ("const a = 1; const a: number = 2;", "SyntaxError: ", at(1, 20)),
            (
                "namespace N { export let a = 1 }\nconst é = 1; const é = 2;",
                "SyntaxError: ",
                at(2, 20),
            ),
            (
                "namespace N { export let a = 1; a++; export class N {} }\nreturn N.a",
                "use a plain object",
                at(1, 26),
            ),
            ("namespace N { export let a = 1; @dec class A {} }", "Decorators cannot", at(1, 33)),
            ("class A {\n  accessor x = 1;\n}\nreturn new A().x", "keyword `accessor`", at(2, 3)),
            ("const a = 1;\nexport = a", "`export =` has no effect", at(2, 1)),
        ],
        TYPESCRIPT,
    );
    check(&[("class A { accessor x = 1; }", "keyword `accessor`", at(1, 11))], JAVASCRIPT);
    check(&[("@dec class A {}\nreturn 1", "Decorators cannot run here", at(1, 1))], JAVASCRIPT);
}

#[test]
fn what_is_no_program_is_refused_with_advice() {
    check(
        &[
            ("", "The cell is empty", None),
            ("  \n\t\n", "The cell is empty", None),
            ("// only a comment", "The cell is empty", None),
            ("/* a */ // b\n", "The cell is empty", None),
            (";;", "The cell is empty", None),
            ("```js\n```", "The cell is empty", None),
            ("```js\n// nothing\n```", "The cell is empty", None),
            ("{\"code\": \"return 1\"}", "Send the program itself", None),
            (
                "{\"language\": \"javascript\", \"code\": \"return 1\"}",
                "Send the program itself",
                None,
            ),
            ("({ command: 'ls' })", "Send the program itself", None),
            ("{ code: 'return 1' }", "Send the program itself", None),
            ("{\"script\":\"return 1\"}", "Send the program itself", None),
            ("{ program: `return 1` }", "Send the program itself", None),
            ("({ source: 'return 1' })", "Send the program itself", None),
            ("{\"js\": \"return 1\"}", "Send the program itself", None),
            ("{\"javascript\": \"return 1\"}", "Send the program itself", None),
            (
                "{\"tool\":\"get\",\"input\":{\"a\":1}}",
                "return await tools.callValue(\"get\", {\"a\":1});",
                None,
            ),
            (
                "```json\n{\"name\": \"get\", \"arguments\": {\"a\": \"é\"}}\n```",
                "tools.callValue(\"get\", {\"a\": \"é\"});",
                None,
            ),
            ("{ tool_name: 'a:b', parameters: {} }", "tools.callValue(\"a:b\", {});", None),
            (
                "{\"type\": \"tool_use\", \"id\": \"1\", \"name\": \"get\", \"input\": {}}",
                "tools.callValue(\"get\", {});",
                None,
            ),
            (
                "{\"type\": \"function\", \"function\": {\"name\": \"get\", \"arguments\": \"{}\"}}",
                "tools.callValue(\"get\", input);",
                None,
            ),
            ("{\"function\": \"get\", \"args\": {}}", "tools.callValue(\"get\", {});", None),
            ("\u{feff}", "The cell is empty", None),
            ("js\nls -la", "looks like a shell command", None),
            ("```bash\nls -la\n```", "looks like a shell command", None),
        ],
        JAVASCRIPT,
    );
    let parts = [
        ("Here is the code:\n```js\nreturn 1;\n```", "Send code only"),
        ("Code:\n```js\nreturn 1;\n```", "Send code only"),
        ("```js\nreturn 1;\n```\nThis returns 1.", "Send code only"),
        ("```js\nreturn 1;\n```\n```js\nreturn 2;\n```", "Send code only"),
        ("```js\nreturn 1;\n```\n\nthen\n\n```\nreturn 2;\n```", "Send code only"),
        ("return 1;\n```", "Send code only"),
        ("I will list the files now.", "Send code only"),
        ("def f(x):\n    return x\nprint(f(1))", "looks like Python"),
        ("import os\nprint(os.getcwd())", "looks like Python"),
        ("from os import path\nprint(1)", "looks like Python"),
        ("for x in range(3):\n    print(x)", "looks like Python"),
        ("<!DOCTYPE html>\n<html></html>", "looks like HTML"),
        ("<html><body></body></html>", "looks like HTML"),
    ];
    for (code, part) in parts {
        let refusal = engine::javascript(code).expect_err(code);
        assert!(refusal.message.contains(part), "{code:?}: {}", refusal.message);
    }
}

#[test]
fn messages_never_mention_what_is_inside() {
    for code in
        ["const = 5", "}", "})", "if (", "`", "await", "return {", "import(", "class {", "é}"]
    {
        let message = engine::javascript(code).expect_err(code).message;
        for word in ["oxc", "async () =>", "(async", "wrapper", ".rs", "module_record"] {
            assert!(!message.contains(word), "{code:?}: {message}");
        }
    }
}

#[test]
fn a_language_that_is_not_enabled_is_refused_by_name() {
    let only_javascript = Options { allow_typescript: false, ..JAVASCRIPT };
    let only_typescript = Options { allow_javascript: false, ..JAVASCRIPT };
    let refusal = prepare("return 1", &only_typescript).expect_err("refused");
    assert!(refusal.message.contains("send \"typescript\""), "{}", refusal.message);
    let as_typescript = Options { typescript: true, ..only_javascript };
    let refusal = prepare("return 1", &as_typescript).expect_err("refused");
    assert!(refusal.message.contains("send \"javascript\""), "{}", refusal.message);
    let refusal = prepare("const x: number = 1; return x", &only_javascript).expect_err("refused");
    assert!(refusal.message.contains("This is TypeScript"), "{}", refusal.message);
    assert_eq!(refusal.location, Some((1, 7)));
    assert!(prepare("return 1", &only_javascript).is_ok());
}

#[test]
fn a_source_over_the_cap_is_refused_before_it_is_parsed() {
    let fits = format!("return 1;{}", " ".repeat(MAX_SOURCE_BYTES - 9));
    assert!(engine::javascript(&fits).is_ok());
    let refusal = engine::javascript(&format!("{fits} ")).expect_err("too long");
    assert!(refusal.source_limit);
    assert!(refusal.message.contains("262145 bytes"), "{}", refusal.message);
}
