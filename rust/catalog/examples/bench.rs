//! Times of building and searching catalogs: `cargo run --release -p codemode-catalog --example bench`.

use std::hint::black_box;
use std::time::Instant;

use codemode_catalog::mcp::{MAX_FILE_BYTES, ServerDeclaration, ToolDeclaration, mcp_server_dts};
use codemode_catalog::{Catalog, Entry, Validator, parse_schema};
use serde_json::{Map, Value, json};

const VERBS: &[&str] = &[
    "list", "get", "create", "update", "delete", "search", "export", "import", "archive", "send",
    "cancel", "approve", "assign", "merge", "publish", "rename", "restore", "share", "sync",
    "watch",
];
const NOUNS: &[&str] = &[
    "invoice",
    "shipment",
    "customer",
    "ticket",
    "message",
    "calendar",
    "document",
    "report",
    "project",
    "branch",
    "release",
    "payment",
    "contract",
    "product",
    "warehouse",
    "employee",
    "vehicle",
    "campaign",
    "sensor",
    "policy",
    "account",
    "backup",
    "channel",
    "dashboard",
    "event",
];

fn entries(count: usize) -> Vec<Entry> {
    (0..count)
        .map(|i| {
            let verb = VERBS[i % VERBS.len()];
            let noun = NOUNS[i / VERBS.len() % NOUNS.len()];
            let owner = format!("plugin_{}", i / (VERBS.len() * NOUNS.len()));
            let name = format!("{noun}_{verb}");
            let parameters = json!({"type": "object", "required": ["id"], "properties": {
                "id": {"type": "string", "description": format!("Id of the {noun}.")},
                "limit": {"type": "integer", "minimum": 1, "default": 10},
                "filter": {"type": "object", "properties": {"since": {"type": "string", "format": "date"},
                    "tags": {"type": "array", "items": {"type": "string"}}}},
                "mode": {"enum": ["fast", "full", null]}}});
            let output = (i % 2 == 0).then(|| json!({"type": "array", "items": {"type": "object",
                "additionalProperties": false, "required": ["id"], "properties": {
                "id": {"type": "string"}, "title": {"type": "string"}, "size": {"type": "number"}}}}));
            Entry {
                id: format!("openclaw:{owner}:{name}"),
                name,
                label: None,
                description: format!(
                    "{verb} one {noun} of the workspace, number {i}. Returns the {noun} with its fields \
                     and says who changed it last."
                ),
                source: "openclaw".into(),
                parameters: Some(parameters.to_string()),
                output: output.map(|o| o.to_string()),
            }
        })
        .collect()
}

/// Best of `times` runs, milliseconds.
fn best<T>(times: usize, mut run: impl FnMut() -> T) -> f64 {
    (0..times)
        .map(|_| {
            let start = Instant::now();
            black_box(run());
            start.elapsed().as_secs_f64() * 1e3
        })
        .fold(f64::INFINITY, f64::min)
}

fn main() {
    for count in [1_000, 10_000] {
        let entries = entries(count);
        let cold = best(5, || {
            let catalog = Catalog::new(entries.clone());
            let index = catalog.quick_index(8000);
            assert!(index.shown > 20 && index.shown + index.left_out == count);
            catalog.safe_names(&[]).len()
        });
        let catalog = Catalog::new(entries.clone());
        let first = best(1, || Catalog::new(entries.clone()).search("x", 1))
            - best(3, || Catalog::new(entries.clone()));
        let mut worst = (0.0, "");
        for query in [
            "list invoices",
            "send a message to the customer",
            "invoice_list",
            "workspace fields",
            "i",
            "qzxv wvut",
            "calender",
            "id limit filter since tags mode",
            "出荷",
            "one of the",
        ] {
            let ms = best(20, || catalog.search(query, 50));
            if ms > worst.0 {
                worst = (ms, query);
            }
        }
        let typical = best(50, || catalog.search("list invoices", 8));
        let suggest = best(5, || catalog.suggest("invoce_lst"));
        println!(
            "{count} tools: hints + quick index + names {cold:.2} ms, search index {first:.2} ms, \
             search {typical:.4} ms, worst {:.4} ms ({:?}), suggest {suggest:.3} ms",
            worst.0, worst.1
        );
    }
    dts();
    validators();
}

fn dts() {
    let definitions: Map<String, Value> = (0..300)
        .map(|i| {
            let next = json!({"$ref": format!("#/$defs/D{}", (i * 7 + 1) % 300)});
            (
                format!("D{i}"),
                json!({"type": "object", "properties": {"a": next, "b": next, "c": next}}),
            )
        })
        .collect();
    let schema = json!({"type": "object", "properties": {"d": {"$ref": "#/$defs/D0"}}, "$defs": definitions});
    let text = schema.to_string();
    let tool = |i: usize| ToolDeclaration {
        key: format!("t{i}"),
        name: format!("t{i}"),
        description: "Words.".into(),
        input: Some(text.clone()),
        output: None,
    };
    for count in [1, 200] {
        let server = ServerDeclaration {
            key: "s".into(),
            name: "s".into(),
            tools: (0..count).map(tool).collect(),
            ..Default::default()
        };
        let size = mcp_server_dts(&server, MAX_FILE_BYTES).len();
        let ms = best(3, || mcp_server_dts(&server, MAX_FILE_BYTES));
        println!(
            "declarations of {count} tools with {} KB schemas: {ms:.2} ms, {size} bytes",
            text.len() >> 10
        );
    }
    let parse = best(5, || parse_schema(&text));
    println!("parse alone {parse:.3} ms");
}

fn validators() {
    let schema = parse_schema(entries(1)[0].parameters.as_deref().unwrap_or(""));
    let first = best(1, || Validator::for_input(schema.clone()));
    let compile = best(20, || Validator::for_input(schema.clone()));
    let validator = Validator::for_input(schema);
    let input = json!({"id": "x", "limit": 3, "filter": {"tags": ["a"]}});
    let check = best(50, || validator.check_input(&input).is_ok());
    println!("first compile {first:.3} ms, compile {compile:.4} ms, check {check:.5} ms");
}
