//! Schemas: whatever they hold, what is made of them is TypeScript, and they compile or are
//! refused. An input is a schema, perhaps NUL and a value to check.
#![no_main]

use codemode_catalog::mcp::{ServerDeclaration, ToolDeclaration, mcp_server_dts, mcp_signature};
use codemode_catalog::{
    INPUT_HINT_CHARS, Json, OUTPUT_HINT_CHARS, Validator, input_hint, output_hint, parse_schema,
};
use codemode_fuzz::promptly;
use libfuzzer_sys::fuzz_target;
use oxc_allocator::Allocator;
use oxc_parser::Parser;
use oxc_span::SourceType;

const MAX_DTS: usize = 64 << 10;

fuzz_target!(|data: &[u8]| promptly(|| {
    let text = String::from_utf8_lossy(data);
    let (schema_text, value) = match text.split_once('\0') {
        Some((schema, value)) => (schema, parse_schema(value)),
        None => (&*text, Json::Null),
    };
    let schema = parse_schema(schema_text);
    render(&schema, schema_text);
    validate(schema, value);
}));

fn render(schema: &Json, text: &str) {
    let input = input_hint(schema, INPUT_HINT_CHARS);
    assert!(input.chars().count() <= INPUT_HINT_CHARS);
    let output = output_hint(schema, OUTPUT_HINT_CHARS).unwrap_or_else(|| "unknown".into());
    assert!(output.chars().count() <= OUTPUT_HINT_CHARS);
    typescript(&format!("declare function f(input: {input}): {output};"));
    let tool = ToolDeclaration {
        key: "t".into(),
        name: text.chars().take(40).collect(),
        description: text.chars().skip(3).take(200).collect(),
        input: Some(text.into()),
        output: Some(text.into()),
    };
    assert!(!mcp_signature(&tool).is_empty());
    let server =
        ServerDeclaration { key: "s".into(), tools: vec![tool], ..ServerDeclaration::default() };
    typescript(&mcp_server_dts(&server, MAX_DTS));
}

fn typescript(text: &str) {
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, text, SourceType::d_ts()).parse();
    assert!(!parsed.panicked && parsed.diagnostics.is_empty(), "{:?}\n{text}", parsed.diagnostics);
}

fn validate(schema: Json, mut value: Json) {
    if let Ok(output) = Validator::for_output(schema.clone()) {
        for value in [&value, &schema] {
            drop(output.check_output(value));
        }
    }
    let input = Validator::for_input(schema.clone());
    drop(input.check_input(&schema));
    input.coerce(&mut value);
    drop(input.check_input(&value));
}
