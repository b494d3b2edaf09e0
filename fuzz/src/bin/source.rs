//! The front door: a text is refused with a reason, or becomes a script that is one function
//! and nothing else; places lead into the text that was sent. The first byte says the language.
#![no_main]

use codemode_fuzz::promptly;
use codemode_source::{MAX_SOURCE_BYTES, Options, PositionMap, Prepared, Refusal, prepare};
use libfuzzer_sys::fuzz_target;
use oxc_allocator::Allocator;
use oxc_ast::ast::{ArrowFunctionBody, Expression, Statement};
use oxc_parser::Parser;
use oxc_span::SourceType;

const HEAD: &str = "(async () => {\n";
const TAIL: &str = "\n})";

fuzz_target!(|data: &[u8]| promptly(|| {
    let Some((flags, rest)) = data.split_first() else { return };
    let code = String::from_utf8_lossy(rest);
    let options = Options {
        typescript: flags & 1 != 0,
        allow_javascript: flags & 2 == 0,
        allow_typescript: flags & 4 == 0,
    };
    match prepare(&code, &options) {
        Ok(prepared) => accepted(&code, &prepared),
        Err(refusal) => refused(&code, &refusal),
    }
}));

fn accepted(code: &str, prepared: &Prepared) {
    stays_inside(&prepared.script);
    let bytes = prepared.map.to_bytes();
    assert_eq!(PositionMap::from_bytes(&bytes).as_ref(), Some(&prepared.map));
    let sent = line_lengths(code);
    let body = &prepared.script[HEAD.len()..prepared.script.len() - TAIL.len()];
    for (at, line) in body.split('\n').enumerate().take(200) {
        for column in [1, line.len() / 2 + 1, line.len() + 1] {
            let place = prepared.map.original(at as u32 + 1, column as u32);
            let (line, column) = place.expect("a place that a text has");
            assert!(line >= 1 && line as usize <= sent.len() + 1 && column >= 1, "{line}:{column}");
        }
    }
}

/// One statement, which is one arrow function from the first byte to the last.
fn stays_inside(script: &str) {
    assert!(script.starts_with(HEAD) && script.ends_with(TAIL), "{script}");
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, script, SourceType::script()).parse();
    assert!(!parsed.panicked && parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
    assert!(parsed.program.directives.is_empty());
    let [Statement::ExpressionStatement(statement)] = parsed.program.body.as_slice() else {
        panic!("more than the cell: {script}")
    };
    let Expression::ParenthesizedExpression(parens) = &statement.expression else {
        panic!("no parentheses: {script}")
    };
    let Expression::ArrowFunctionExpression(arrow) = &parens.expression else {
        panic!("no function: {script}")
    };
    let end = script.len() as u32;
    assert_eq!((parens.span.start, parens.span.end), (0, end));
    assert!(matches!(&arrow.body, ArrowFunctionBody::FunctionBody(b) if b.span.end + 1 == end));
}

fn refused(code: &str, refusal: &Refusal) {
    assert!(!refusal.message.is_empty());
    assert!(refusal.message.len() < 64 << 10, "{} bytes of refusal", refusal.message.len());
    if code.len() > MAX_SOURCE_BYTES {
        assert!(refusal.source_limit);
    }
    if let Some((line, column)) = refusal.location {
        let here = line_lengths(code).get(line as usize - 1).copied();
        assert!(here.is_some_and(|n| column <= n + 1), "{line}:{column} in {code:?}");
    }
}

fn line_lengths(code: &str) -> Vec<u32> {
    let text = code.replace("\r\n", "\n").replace('\r', "\n");
    text.split('\n').map(|line| line.chars().count() as u32).collect()
}
