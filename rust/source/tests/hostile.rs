//! saf.2: no text overflows the stack, panics, or leaves the function that it is the body of.

#![allow(missing_docs)]

mod engine;

use codemode_source::{MAX_SOURCE_BYTES, Options, PositionMap, Prepared, Refusal, prepare};
use engine::{Engine, JAVASCRIPT, TYPESCRIPT};
use proptest::prelude::*;

/// Prepares and compiles on the stack that a worker has.
fn on_a_worker_stack<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    // Frames of an unoptimised build are several times as large.
    let stack = if cfg!(debug_assertions) { 32 << 20 } else { 8 << 20 };
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(stack).spawn_scoped(scope, work);
        thread.expect("a thread").join().expect("no panic")
    })
}

fn wrapped(open: &str, core: &str, close: &str, count: usize) -> String {
    [open.repeat(count).as_str(), core, close.repeat(count).as_str()].concat()
}

/// Every shape that nests, as `(open, core, close)`.
const SHAPES: &[(&str, &str, &str)] = &[
    ("(", "1", ")"),
    ("[", "1", "]"),
    ("{", "1", "}"),
    ("({a:", "1", "})"),
    ("f(", "1", ")"),
    ("`${", "1", "}`"),
    ("`a${`b${", "1", "}`}`"),
    ("!", "1", ""),
    ("-", "1", ""),
    ("- -", "1", ""),
    ("~", "1", ""),
    ("typeof ", "1", ""),
    ("void ", "1", ""),
    ("await ", "1", ""),
    ("new ", "f", ""),
    ("new ", "f", "()"),
    ("a+", "1", ""),
    ("a\n+", "1", ""),
    ("a&&", "1", ""),
    ("a??", "1", ""),
    ("a**", "1", ""),
    ("a,", "1", ""),
    ("a=", "1", ""),
    ("a?b:", "1", ""),
    ("a?", "1", ":b"),
    ("x=>", "1", ""),
    ("async x=>", "1", ""),
    ("(x=1)=>", "1", ""),
    ("function f(){", "", "}"),
    ("(function(){", "", "})()"),
    ("class A{m(){", "", "}}"),
    ("class A extends ", "B", "{}"),
    ("if(a)", "b", ""),
    ("if(a)\n", "b", ""),
    ("if(a){}else ", "{}", ""),
    ("if(a){}\nelse ", "{}", ""),
    ("for(;;)", ";", ""),
    ("for(;;)\n", ";", ""),
    ("while(a)", ";", ""),
    ("while(a)\n", ";", ""),
    ("do ", ";", " while(0)"),
    ("do\n", ";", "\nwhile(0)"),
    ("with(a)", ";", ""),
    ("try{", "", "}finally{}"),
    ("switch(a){case 1:", "", "}"),
    ("a", "", ".b"),
    ("a", "", "?.b"),
    ("a", "", "[0]"),
    ("f", "", "()"),
    ("f", "", "``"),
    ("f", "", "\n.b()"),
    ("[...", "a", "]"),
    ("let [", "a", "]=b"),
    ("({a:", "b", "}=c)"),
    ("a:b:", ";", ""),
    ("yield ", "1", ""),
    ("delete ", "a", ""),
    ("a in ", "b", ""),
    ("a<", "b", ""),
    ("a|", "b", ""),
    ("return ", "1", ""),
    ("'a'+", "'b'", ""),
    ("/a/+", "/b/", ""),
    ("x\n=>", "1", ""),
    ("case ", "1", ""),
    ("\\u0061+", "1", ""),
    ("é+", "1", ""),
    ("\"\\\n\"+", "1", ""),
    ("if(/[)]/)", ";", ""),
    ("}/`/;(", "", ""),
    ("a<b,", "c", ""),
    ("a<{b:", "c", "}"),
    ("(a=", "c", ")=>d"),
    ("async (a=", "1", ")=>b"),
    ("a?(", "b", "):c"),
    ("a?(b):(", "c", ")"),
    ("/*`*/(", "1", ")"),
    ("if(a)/'/+(", "1", ")"),
    // TypeScript
    ("A<", "B", ">"),
    ("let a:A<", "B", ">"),
    ("(a as ", "b", ")"),
    ("", "a", " as b"),
    ("", "a", "!"),
    ("<T>", "x", ""),
    ("let a:(", "b", ")"),
    ("let a:[", "b", "]"),
    ("type A=", "B", "[]"),
    ("type A=keyof ", "B", ""),
    ("type A=B extends C?D:", "E", ""),
    ("type A=()=>", "B", ""),
    ("type A={a:", "B", "}"),
    ("type A=`${", "B", "}`"),
    ("namespace A{", "", "}"),
    ("namespace A.", "B", "{}"),
    ("enum A{B=(", "1", ")}"),
    ("a satisfies ", "b", ""),
    ("keyof ", "a", ""),
    ("type A=", "B", "|C"),
    ("type A=", "B", "['c']"),
    ("x is ", "a", ""),
    ("unique symbol ", "", ""),
    ("(a?:", "b", ")=>c"),
    ("abstract class A{m(){", "", "}}"),
];

#[test]
fn saf_2_no_nesting_overflows_the_stack() {
    on_a_worker_stack(|| {
        let engine = Engine::new();
        let mut reached = 0;
        for (open, core, close) in SHAPES {
            let unit = open.len() + close.len();
            // The longest that fits, and counts just below what the guard lets through.
            let mut accepted = 0;
            for count in [MAX_SOURCE_BYTES / unit - 2, 5_900, 1_450, 390, 190] {
                let code = wrapped(open, core, close, count);
                if code.len() > MAX_SOURCE_BYTES {
                    continue;
                }
                for options in [JAVASCRIPT, TYPESCRIPT] {
                    if let Ok(prepared) = prepare(&code, &options) {
                        accepted += 1;
                        drop(engine.compile(&prepared.script));
                    }
                }
            }
            reached += usize::from(accepted > 0);
        }
        // The shapes do reach the parsers, not only the guard.
        assert!(reached > 70, "{reached}");
    });
}

#[test]
fn ordinary_depth_is_not_refused() {
    let object = wrapped("{a:[", "1", "]}", 100);
    let sum = vec!["\"a line of text\""; 2_000].join(" +\n");
    let chain = format!("f(){}", ".then(x => x)".repeat(500));
    let branches = format!("let a = 1; {}{{}}", "if (a === 1) { f() } else ".repeat(200));
    let unpunctuated =
        "const a = { b: 1 }\nif (a.b) {\n  f(a)\n}\nf(`x${a}`)\nfor (const x of a)\n  f(x)\n";
    let array = format!("return [{}]", "{ a: 1, b: [1, 2] }, ".repeat(8_000));
    let strings = format!("return {:?}", "((((([[[[[{{{{{".repeat(1_000));
    for code in [
        format!("return {object}"),
        format!("return {sum}"),
        chain,
        branches,
        array,
        strings,
        "const a = 1\nlet b = 2\nb = a + b\nf(b)\n"
            .repeat(4_000)
            .replace("const a = 1\nlet b = 2\n", "g(1)\nh(2)\n"),
        unpunctuated.repeat(800).replace("const a = ", "var a = "),
        format!("return `{}`", "((((".repeat(10_000)),
        format!("// {}\nreturn 1", "((((".repeat(10_000)),
        "function f(){}".repeat(9_000),
        format!("return [{}1]", "a < b, ".repeat(250)),
        format!("{}return 1", "if (a < b) c = d < e\n".repeat(3_000)),
        format!("return /{}/", "\\(\\[".repeat(5_000)),
    ] {
        let result = on_a_worker_stack(|| prepare(&code, &JAVASCRIPT));
        assert!(result.is_ok(), "{:.80}: {:?}", code, result.err());
    }
}

#[test]
fn too_deep_is_a_source_limit_with_a_place() {
    let refusal = prepare(&"(".repeat(10_000), &JAVASCRIPT).expect_err("too deep");
    assert!(refusal.source_limit);
    assert!(refusal.location.is_some());
    assert!(refusal.message.contains("nested too deeply"), "{}", refusal.message);
}

#[test]
fn no_text_leaves_the_function_that_it_is_the_body_of() {
    let escapes = [
        "})\n//",
        "})<!--",
        "});/*",
        "*/})//",
        "`})`",
        "-->\n})//",
        "\u{2028}})//",
        "//\u{2028}})//",
        "/*\u{2029}*/-->})\n//",
        "'\u{2028}'})//",
        "})\u{0}//",
        "}\n)\n;(async () => {",
        "x})(async()=>{",
        "/[/]})//",
        "a\n/})/g.x(//",
        "<!--\n})//",
        "a-->b})//",
        "`${`})//",
        "\\u007d})//",
        "return\n})()//",
        "}).call(async () => {",
        "}, {",
        "}) => {",
        "= {}) => {",
    ];
    let engine = Engine::new();
    for code in escapes {
        for options in [JAVASCRIPT, TYPESCRIPT] {
            if let Ok(prepared) = prepare(code, &options) {
                stays_inside(&engine, &prepared, code);
            }
        }
    }
}

/// The script is one function in the engine's eyes too: it evaluates to a function, and runs
/// nothing on the way.
fn stays_inside(engine: &Engine, prepared: &Prepared, code: &str) {
    let script = &prepared.script;
    assert!(script.starts_with("(async () => {\n") && script.ends_with("\n})"), "{code:?}");
    let inner = &script["(async () => {\n".len()..script.len() - 3];
    // As a statement list in a generator-free async method, which no arrow's end can leave.
    let method = format!("({{ async m() {{\n{inner}\n}} }})");
    assert!(
        engine.compile(script).is_ok() == engine.compile(&method).is_ok(),
        "{code:?} is read differently in another place: {script}"
    );
}

/// Errors that only the engine finds: it checks regexes, which the parser here does not.
fn is_of_the_engine_alone(error: &str, script: &str) -> bool {
    error.contains("regular expression")
        || (error.contains("expecting ')'") && script.contains('/'))
        || error.contains("extraneous characters")
        || error.contains("regexp")
        || error.contains("escape sequence")
        || error.contains("group")
        || error.contains("quantifier")
        || error.contains("class")
        || error.contains("nothing to repeat")
        || error.contains("flags")
}

#[rustfmt::skip]
const PIECES: &[&str] = &[
    "return", "const", "let", "var", "a", "b", "await", "async", "function", "class", "=>", "=",
    "(", ")", "{", "}", "[", "]", ";", ",", ".", "?.", "?", ":",
    "+", "-", "/", "*", "`", "${", "'", "\"", "\\", "\n", "\r", " ",
    "//", "/*", "*/", "<!--", "-->", "```", "~~~", "1", "0x1", "if", "else", "for",
    "of", "in", "while", "do", "yield", "new", "typeof", "import", "export", "default", "require", "ls",
    "-la", "git", "#!", "$", "é", "😀", "\u{2028}", "\u{a0}", "“", ": number", "<T>", "as any", "!",
    "enum", "namespace", "interface", "type", "@", "#x", "static", "get", "try", "catch", "finally", "throw",
    "with", "using", "super", "new.target", "arguments", "\\n", "\\u0061", "\0", "import.meta", "...", "**", "??=",
    "'use strict'", "async () => {", "})",
];

fn pieces() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(PIECES), 0..40).prop_map(|w| w.join(" "))
}

const PROGRAMS: &[&str] = &[
    "const rows = await tools.callValue('a', { q: `x${1}` });\nreturn rows.map((r) => r.id / 2);",
    "type R = { ok: true } | { ok: false };\nconst r: R = { ok: true } as R;\nenum E { A = 1 }\nreturn [r, E.A];",
    "```js\nasync function main() {\n  const x = /[/]'`/g;\n  return x;\n}\n```",
    "export default async function () { return { ok: true }; }",
    "class A<T> { #x = 1; constructor(private y: T) {} get z() { return this.#x } }\nnew A(1).z",
    "const main = async ({ a }) => main;\nfunction f() { main }\nexport { main as default };",
    "js\nasync function (a) { return { a } }",
    "return async () => { return 1 }",
    "{\"name\": \"a\", \"arguments\": {\"b\": 1}}",
    "namespace A.B { export let a: number = 1, { b } = { b: a };\na++ }\nexport namespace A { export var c }\nA.B",
    "for (const x of [1, 2]) { if (x) continue; else break }\n`a${`b${x}`}`",
];

fn mutated() -> impl Strategy<Value = String> {
    let cut = (any::<prop::sample::Index>(), any::<prop::sample::Index>(), pieces());
    (prop::sample::select(PROGRAMS), prop::collection::vec(cut, 1..4)).prop_map(
        |(program, cuts)| {
            let mut chars: Vec<char> = program.chars().collect();
            for (from, length, piece) in cuts {
                let from = from.index(chars.len() + 1);
                let length = length.index(6).min(chars.len() - from);
                let piece: Vec<char> = piece.chars().take(8).collect();
                chars.splice(from..from + length, piece);
            }
            chars.into_iter().collect()
        },
    )
}

fn check(code: &str) -> Result<(), TestCaseError> {
    for options in [JAVASCRIPT, TYPESCRIPT] {
        match prepare(code, &options) {
            Ok(prepared) => {
                let engine = Engine::new();
                if let Err(error) = engine.compile(&prepared.script) {
                    prop_assert!(
                        is_of_the_engine_alone(&error, &prepared.script)
                            || prepared.script.contains('\0'),
                        "{error}\n{}",
                        prepared.script
                    );
                }
                stays_inside(&engine, &prepared, code);
                let bytes = prepared.map.to_bytes();
                prop_assert_eq!(PositionMap::from_bytes(&bytes), Some(prepared.map));
            }
            Err(Refusal { message, location, .. }) => {
                prop_assert!(!message.is_empty());
                if let Some((line, column)) = location {
                    let text = code.replace("\r\n", "\n").replace('\r', "\n");
                    let lines: Vec<&str> = text.split('\n').collect();
                    let here = lines.get(line as usize - 1).map(|l| l.chars().count() as u32);
                    prop_assert!(here.is_some_and(|n| column <= n + 1), "{line}:{column}");
                }
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_pieces_never_panic_and_what_is_accepted_compiles(code in pieces()) {
        check(&code)?;
    }

    #[test]
    fn mutated_programs_never_panic_and_what_is_accepted_compiles(code in mutated()) {
        check(&code)?;
    }

    #[test]
    fn any_text_is_answered(code in "\\PC{0,60}", typescript: bool) {
        let _ = prepare(&code, &Options { typescript, ..JAVASCRIPT });
    }

    #[test]
    fn any_bytes_are_a_map_or_none(bytes in prop::collection::vec(any::<u8>(), 0..64), line: u32, column: u32) {
        if let Some(map) = PositionMap::from_bytes(&bytes) {
            let _ = map.original(line, column);
            prop_assert_eq!(PositionMap::from_bytes(&map.to_bytes()), Some(map));
        }
    }
}
