//! The JSON-Schema-Test-Suite, where a copy of it is at hand: set `JSON_SCHEMA_TEST_SUITE` to its
//! directory (the one with `tests/`) and run with `--ignored`.

use std::path::{Path, PathBuf};

use codemode_catalog::mcp::{ServerDeclaration, ToolDeclaration, mcp_server_dts};
use codemode_catalog::{Validator, input_hint, output_hint, parse_schema};
use oxc_allocator::Allocator;
use oxc_parser::Parser;
use oxc_span::SourceType;
use serde_json::Value;

fn assert_typescript(text: &str, whence: &str) {
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, text, SourceType::d_ts()).parse();
    assert!(parsed.diagnostics.is_empty(), "{whence}: {:?}\n{text}", parsed.diagnostics);
}

fn files(dir: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files(&path, out);
        } else if path.extension().is_some_and(|e| e == "json") {
            out.push(path);
        }
    }
}

#[test]
#[ignore = "needs a copy of the suite"]
fn every_schema_of_the_suite_becomes_typescript_and_validates_as_it_says() {
    let root = std::env::var("JSON_SCHEMA_TEST_SUITE").expect("JSON_SCHEMA_TEST_SUITE is not set");
    let mut paths = Vec::new();
    files(&Path::new(&root).join("tests"), &mut paths);
    paths.sort();
    let (mut schemas, mut checked, mut wrong, mut refused) = (0, 0, Vec::new(), 0);
    for path in &paths {
        let whence = path.strip_prefix(&root).unwrap_or(path).display().to_string();
        let text = std::fs::read_to_string(path).expect("the suite is readable");
        let Value::Array(groups) = parse_schema(&text) else { continue };
        for group in &groups {
            let schema = &group["schema"];
            schemas += 1;
            let hint = input_hint(schema, 300);
            let output = output_hint(schema, 850).unwrap_or_else(|| "unknown".into());
            assert_typescript(&format!("declare function f(input: {hint}): {output};"), &whence);
            let tool = ToolDeclaration {
                key: "t".into(),
                name: "t".into(),
                input: Some(schema.to_string()),
                output: Some(schema.to_string()),
                ..ToolDeclaration::default()
            };
            let server = ServerDeclaration {
                key: "s".into(),
                tools: vec![tool],
                ..ServerDeclaration::default()
            };
            assert_typescript(&mcp_server_dts(&server, 1 << 18), &whence);
            Validator::for_input(schema.clone());
            if !whence.contains("draft2020-12") || whence.contains("optional") {
                continue;
            }
            let Ok(validator) = Validator::for_output(schema.clone()) else {
                refused += 1;
                continue;
            };
            for test in group["tests"].as_array().into_iter().flatten() {
                checked += 1;
                if validator.check_output(&test["data"]).is_ok() != (test["valid"] == true) {
                    wrong.push(format!(
                        "{whence}: {} / {}",
                        group["description"], test["description"]
                    ));
                }
            }
        }
    }
    println!("{schemas} schemas, {checked} values, {refused} schemas refused, wrong: {wrong:#?}");
    assert!(schemas > 1000);
    assert!(wrong.is_empty());
}
