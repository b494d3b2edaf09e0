//! Declarations of MCP servers: every text parses as TypeScript.

use codemode_catalog::input_hint;
use codemode_catalog::mcp::{
    MAX_FILE_BYTES, ServerDeclaration, ServerSummary, ToolDeclaration, mcp_index_dts, mcp_names,
    mcp_server_dts, mcp_signature,
};
use oxc_allocator::Allocator;
use oxc_parser::Parser;
use oxc_span::SourceType;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

fn assert_typescript(text: &str) {
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, text, SourceType::d_ts()).parse();
    assert!(!parsed.panicked && parsed.diagnostics.is_empty(), "{:?}\n{text}", parsed.diagnostics);
}

#[test]
#[should_panic(expected = "declare function f(input: {")]
fn text_that_is_no_typescript_is_noticed() {
    assert_typescript("declare function f(input: { a-b: string }): void;");
}

fn tool(name: &str, description: &str, input: &str) -> ToolDeclaration {
    let names = mcp_names(&[("s".into(), vec![name.into()])]);
    ToolDeclaration {
        key: names[0].tools[0].key.clone(),
        name: name.into(),
        description: description.into(),
        input: Some(input.into()),
        output: None,
    }
}

fn server(tools: Vec<ToolDeclaration>) -> ServerDeclaration {
    ServerDeclaration { key: "github".into(), name: "github".into(), tools, ..Default::default() }
}

const ISSUE: &str = r#"{"type":"object","required":["owner","repo","title"],"properties":{
    "owner":{"type":"string","description":"Owner of the repository"},
    "repo":{"type":"string","description":"Name of the repository"},
    "title":{"type":"string","description":"Title of the issue"},"body":{"type":"string"}}}"#;

#[test]
fn a_server_reads_like_the_documentation() {
    let text = mcp_server_dts(
        &server(vec![tool("create_issue", "Create a GitHub issue.", ISSUE)]),
        MAX_FILE_BYTES,
    );
    let expected = "
  /**
   * Create a GitHub issue.
   * @param owner Owner of the repository
   * @param repo Name of the repository
   * @param title Title of the issue
   */
  function createIssue(input: {
    owner: string;
    repo: string;
    title: string;
    body?: string;
  }): Promise<McpToolResult>;
}
";
    assert!(text.ends_with(expected), "{text}");
    assert!(text.contains("declare namespace MCP.github {"), "{text}");
    assert!(text.contains("r.structuredContent ?? JSON.parse(text)"), "{text}");
    assert_typescript(&text);
    let signature = mcp_signature(&tool("create_issue", "", ISSUE));
    assert_eq!(
        signature,
        "createIssue(input: { owner: string; repo: string; title: string; body?: string }): Promise<McpToolResult>"
    );
}

#[test]
fn resources_prompts_outputs_and_instructions_are_declared() {
    let mut with = server(vec![tool("a", "", "{}")]);
    with.resources = true;
    with.prompts = true;
    with.instructions = "Use */ wisely.\nconst x = `".into();
    with.name = "git\nhub */".into();
    with.tools[0].output =
        Some(r#"{"type":"object","properties":{"n":{"type":"integer"}}}"#.into());
    let text = mcp_server_dts(&with, MAX_FILE_BYTES);
    assert_typescript(&text);
    for part in ["namespace resources {", "namespace prompts {", "McpToolResult<{ n?: number }>"] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn hostile_names_and_descriptions_stay_where_they_are() {
    let names = [
        "delete",
        "a */ b",
        "x\"y",
        "\n}\ndeclare const y: 1;",
        "$api",
        "resources",
        "",
        "class",
        "поиск",
        "type",
        "any",
        "get",
        "of",
        "async",
        "string",
        "undefined",
        "\u{2028}",
        "ﬁ",
        "ŉ",
        "İ",
        "a\u{301}",
    ];
    let keys = mcp_names(&[("s".into(), names.iter().map(|n| (*n).to_owned()).collect())]);
    let tools = names
        .iter()
        .zip(&keys[0].tools)
        .map(|(name, named)| ToolDeclaration {
            key: named.key.clone(),
            name: (*name).into(),
            description: "*/ } declare const x: 1; /* \u{2028} //\r\n * / @param".into(),
            input: Some(
                r#"{"properties":{"a*/b":{"description":"x */ y\n*/","type":"string"}}}"#.into(),
            ),
            output: None,
        })
        .collect();
    let text = mcp_server_dts(&server(tools), MAX_FILE_BYTES);
    assert_typescript(&text);
    assert_eq!(text.matches("  function ").count(), names.len() + 1, "{text}");
    let summaries = [
        ServerSummary {
            key: "a".into(),
            name: "a*/\n".into(),
            tools: vec!["x".into(); 99],
            unavailable: None,
        },
        ServerSummary {
            key: "b".into(),
            unavailable: Some("it */ ended\n".into()),
            ..Default::default()
        },
    ];
    assert_typescript(&mcp_index_dts(&summaries));
    assert_typescript(&mcp_index_dts(&[]));
}

/// The schemas of kind D, one tool each, with a plain tool behind each one.
#[test]
fn d_schemas_parse_and_leave_their_neighbours() {
    let schemas = [
        r##"{"$ref":"#/$defs/In","$defs":{"In":{"type":"object","properties":{"q":{"type":"string"}}}},"properties":{"label":{"type":"string"}},"required":["label"]}"##,
        r#"{"type":"object","properties":{"mode":{"type":"string","enum":["a","b"]},"n":{"type":"integer"}},"allOf":[{"required":["mode"]},{"properties":{"n":{"minimum":1}}}]}"#,
        r##"{"type":"object","properties":{"x":{"$ref":"#/$defs/Missing"},"y":{"$ref":"https://example.test/schema.json#/a"}}}"##,
        r#"{"type":"object","properties":{"s":{"enum":["say \"hi\"","it's","a\\b","line\nbreak","*/"]},"m":{"enum":[1,null,true,"x",{"k":1}]},"e":{"enum":[]},"c":{"const":"only"}}}"#,
        r#"{"type":"object","properties":{"user-id":{"type":"string"},"a b":{"type":"string"},"1st":{"type":"number"},"class":{"type":"string"},"":{"type":"string"},"@type":{"type":"string"},"naïve":{"type":"string"},"__proto__":{"type":"string"},"quo\"te":{"type":"string"}},"required":["user-id","__proto__"]}"#,
        r#"{"type":"string"}"#,
        "true",
        "{}",
        "null",
        "[]",
        "{\"properties\":{\"a\":{}}}",
        "{ not json",
        r#"{"type":"object","properties":{"id":{"type":"integer"}},"additionalProperties":{"type":"string"},"patternProperties":{"^x-":{"type":"boolean"}}}"#,
        r##"{"type":"object","properties":{"a":{"$ref":"#/properties/b"},"b":{"$ref":"#/properties/a"},"c":{"$ref":"#"}}}"##,
        r#"{"type":"object","properties":{"n":{"enum":[-1,1e300,-0.5,false]}}}"#,
    ];
    let mut tools = Vec::new();
    for (i, schema) in schemas.iter().enumerate() {
        tools.push(tool(&format!("odd_{i}"), "", schema));
        tools.push(tool(&format!("plain_{i}"), "Plain.", ISSUE));
    }
    let text = mcp_server_dts(&server(tools), MAX_FILE_BYTES);
    assert_typescript(&text);
    assert!(
        text.contains("function odd0(input: {\n    q?: string;\n    label: string;\n  })"),
        "{text}"
    );
    for i in 0..schemas.len() {
        assert!(text.contains(&format!("function plain{i}(input: {{\n    owner: string;")), "{i}");
    }
}

fn huge_schema() -> String {
    let mut schema = json!({"type": "string"});
    for level in 0..40 {
        let mut properties = Map::new();
        properties.insert(format!("level_{level}"), schema);
        for i in 0..75 {
            properties.insert(
                format!("property_{level}_{i}"),
                json!({"type": "string", "description": "x"}),
            );
        }
        schema = json!({"type": "object", "properties": properties});
    }
    schema.to_string()
}

#[test]
fn d12_a_huge_schema_is_shortened_and_says_so() {
    let schema = huge_schema();
    assert!(schema.len() > 120_000);
    let tools = vec![tool("huge", "Huge.", &schema), tool("plain", "Plain.", ISSUE)];
    let text = mcp_server_dts(&server(tools), MAX_FILE_BYTES);
    assert_typescript(&text);
    assert!(text.contains(r#"Shortened: $api("huge", { schema: true })"#));
    assert!(text.contains("function plain(input: {\n    owner: string;"));
    assert!(text.len() < 64 << 10, "{}", text.len());
}

#[test]
fn every_file_stays_within_its_bound_and_keeps_every_function_that_can_be() {
    let definitions: Map<String, Value> = (0..100)
        .map(|i| {
            let next = json!({"$ref": format!("#/$defs/D{}", (i * 7 + 1) % 100)});
            (
                format!("D{i}"),
                json!({"type": "object", "properties": {"a": next, "b": next, "c": next}}),
            )
        })
        .collect();
    let schema =
        json!({"type": "object", "properties": {"d": {"$ref": "#/$defs/D0"}}, "$defs": definitions}).to_string();
    let tools: Vec<ToolDeclaration> =
        (0..200).map(|i| tool(&format!("t_{i}"), &"Words. ".repeat(400), &schema)).collect();
    for max in [MAX_FILE_BYTES, 40 << 10, 8 << 10] {
        let text = mcp_server_dts(&server(tools.clone()), max);
        assert_typescript(&text);
        assert!(text.len() <= max.max(2048), "{} of {max}", text.len());
        if max >= 40 << 10 {
            assert_eq!(text.matches("  function ").count(), 201, "{max}");
        } else {
            assert!(text.contains(" more tools: $api() lists all"), "{max}");
        }
    }
}

#[test]
fn a_schema_of_any_depth_is_rendered() {
    for open in
        [r#"{"type":"object","properties":{"a":"#, r#"{"items":"#, r#"{"anyOf":["#, r#"{"allOf":["#]
    {
        let close: String = open
            .chars()
            .rev()
            .filter_map(|c| match c {
                '{' => Some('}'),
                '[' => Some(']'),
                _ => None,
            })
            .collect();
        let schema = format!("{}true{}", open.repeat(10_000), close.repeat(10_000));
        assert_typescript(&mcp_server_dts(
            &server(vec![tool("deep", "", &schema)]),
            MAX_FILE_BYTES,
        ));
    }
}

#[test]
fn shared_references_do_not_multiply_the_work() {
    // 2^60 types if each reference were followed.
    let definitions: Map<String, Value> = (0..60)
        .map(|i| {
            let next = json!({"$ref": format!("#/$defs/D{}", i + 1)});
            (format!("D{i}"), json!({"type": "object", "anyOf": [next, next], "allOf": [next, next],
                "properties": {"a": next, "b": next}, "required": (0..500).map(|n| format!("r{n}")).collect::<Vec<_>>()}))
        })
        .collect();
    let schema = json!({"$ref": "#/$defs/D0", "$defs": definitions}).to_string();
    assert_typescript(&mcp_server_dts(&server(vec![tool("t", "", &schema)]), MAX_FILE_BYTES));
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(|v| json!(v)),
        any::<String>().prop_map(Value::from),
        prop::sample::select(vec![
            "string",
            "object",
            "array",
            "null",
            "#",
            "#/$defs/A",
            "#/properties/a"
        ])
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 48, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key(), inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn key() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => prop::sample::select(vec![
            "type", "properties", "required", "items", "prefixItems", "anyOf", "oneOf", "allOf", "enum", "const",
            "$ref", "$defs", "additionalProperties", "patternProperties", "nullable", "not", "description",
            "minItems", "maxItems", "additionalItems", "a", "b", "A", "__proto__",
        ]).prop_map(str::to_owned),
        1 => any::<String>(),
    ]
}

/// Schemas that mean something, so that every branch of the renderer is met.
fn schema() -> impl Strategy<Value = Value> {
    let reference = prop::sample::select(vec![
        "#",
        "#/$defs/A",
        "#/$defs/B",
        "#/properties/a",
        "#/x",
        "http://x/y",
    ]);
    let leaf = prop_oneof![
        prop::sample::select(vec![
            "string", "number", "integer", "boolean", "null", "object", "array"
        ])
        .prop_map(|t| json!({"type": t})),
        reference.prop_map(|r| json!({"$ref": r})),
        prop::collection::vec(any_json(), 0..4).prop_map(|v| json!({"enum": v})),
        any_json().prop_map(|v| json!({"const": v})),
        any::<bool>().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 64, 5, |inner| {
        let some = prop::collection::vec(inner.clone(), 0..4);
        let named = prop::collection::vec((key(), inner.clone()), 0..5)
            .prop_map(|m| Value::Object(m.into_iter().collect()));
        prop_oneof![
            3 => (named, prop::collection::vec(key(), 0..3), inner.clone(), any::<String>()).prop_map(|(p, r, a, d)|
                json!({"type": "object", "properties": p, "required": r, "additionalProperties": a, "description": d})),
            1 => inner.clone().prop_map(|i| json!({"type": "array", "items": i})),
            1 => (some.clone(), inner.clone(), 0..4u32).prop_map(|(p, i, n)| json!({"type": ["array", "null"],
                "prefixItems": p, "items": i, "minItems": n})),
            1 => (some.clone(), inner.clone()).prop_map(|(s, i)| json!({"anyOf": s, "properties": {"a": i}})),
            1 => (some.clone(), some).prop_map(|(a, b)| json!({"oneOf": a, "allOf": b, "nullable": true})),
            1 => inner.prop_map(|i| json!({"patternProperties": {"^x": i}, "additionalProperties": false})),
        ]
    })
}

fn check(schema: &Value) {
    let text = schema.to_string();
    let hint = input_hint(schema, 300);
    assert!(hint.chars().count() <= 300, "{hint}");
    let output = codemode_catalog::output_hint(schema, 850).unwrap_or_else(|| "never".into());
    assert!(output.chars().count() <= 850, "{output}");
    assert_typescript(&format!("declare function f(input: {hint}): {output};"));
    let mut declared = server(vec![tool("a_b", &text, &text)]);
    declared.tools[0].output = Some(text);
    assert_typescript(&mcp_server_dts(&declared, MAX_FILE_BYTES));
    assert_typescript(&mcp_server_dts(&declared, 3000));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn any_json_value_becomes_typescript(value in any_json()) {
        check(&value);
    }

    #[test]
    fn any_schema_becomes_typescript(mut value in schema(), definitions in (schema(), schema())) {
        if let Some(object) = value.as_object_mut() {
            object.insert("$defs".into(), json!({"A": definitions.0, "B": definitions.1}));
        }
        check(&value);
    }

    #[test]
    fn any_names_become_distinct_identifiers(names in prop::collection::vec(any::<String>(), 0..12)) {
        let named = mcp_names(&[("s".into(), names.clone())]);
        let mut seen = std::collections::HashSet::new();
        let tools: Vec<ToolDeclaration> = names.iter().zip(&named[0].tools).map(|(name, n)| {
            assert!(seen.insert(n.key.clone()));
            ToolDeclaration { key: n.key.clone(), name: name.clone(), description: name.clone(), ..Default::default() }
        }).collect();
        assert_typescript(&mcp_server_dts(&server(tools), MAX_FILE_BYTES));
    }
}
