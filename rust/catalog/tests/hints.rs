//! Cases of JSON Schema and the hints they give.

use codemode_catalog::{input_hint, output_hint};
use serde_json::{Value, json};

fn hint(schema: impl std::borrow::Borrow<Value>) -> String {
    input_hint(schema.borrow(), 300)
}

#[test]
fn required_properties_come_first_then_source_order() {
    let schema = json!({"type": "object", "required": ["path"], "properties":
        {"limit": {"type": "integer"}, "path": {"type": "string"}, "deep": {"type": "boolean"}}});
    assert_eq!(hint(schema), "{ path: string; limit?: number; deep?: boolean }");
}

#[test]
fn d03_a_root_reference_is_merged_with_its_siblings() {
    let schema = json!({"$ref": "#/$defs/In",
        "$defs": {"In": {"type": "object", "properties": {"q": {"type": "string"}}}},
        "properties": {"label": {"type": "string"}}, "required": ["label"]});
    assert_eq!(hint(schema), "{ label: string; q?: string }");
}

#[test]
fn d04_all_of_refines() {
    let schema = json!({"type": "object",
        "properties": {"mode": {"type": "string", "enum": ["a", "b"]}, "n": {"type": "integer"}},
        "allOf": [{"required": ["mode"]}, {"properties": {"n": {"minimum": 1}}}]});
    assert_eq!(hint(schema), r#"{ mode: "a" | "b"; n?: number }"#);
}

#[test]
fn d05_dangling_and_foreign_references_are_unknown() {
    let schema = json!({"type": "object", "properties": {"x": {"$ref": "#/$defs/Missing"},
        "y": {"$ref": "https://example.test/schema.json#/a"}, "z": {"$ref": 7}}});
    assert_eq!(hint(schema), "{ x?: unknown; y?: unknown; z?: unknown }");
}

#[test]
fn references_into_properties_and_with_escapes_are_followed() {
    let schema = json!({"type": "object", "properties": {
        "a/b": {"type": "object", "properties": {"c d": {"type": "string"}}},
        "x": {"$ref": "#/properties/a~1b/properties/c%20d"}}});
    assert_eq!(hint(schema), r#"{ "a/b"?: { "c d"?: string }; x?: string }"#);
}

#[test]
fn cycles_end_in_unknown() {
    let schema = json!({"type": "object", "properties": {
        "self": {"$ref": "#"}, "node": {"$ref": "#/$defs/N"}, "loop": {"$ref": "#/$defs/L"}},
        "$defs": {"L": {"$ref": "#/$defs/L"},
            "N": {"type": "object", "properties": {"next": {"$ref": "#/$defs/N"}}}}});
    let text = hint(schema);
    assert!(text.contains("next?: unknown"), "{text}");
    assert!(text.contains("loop?: unknown"), "{text}");
}

#[test]
fn d07_literals_of_every_kind_are_escaped() {
    let schema = json!({"type": "object", "properties": {
        "s": {"enum": ["say \"hi\"", "it's", "a\\b", "line\nbreak", "*/"]},
        "m": {"enum": [1, null, true, "x", {"k": 1}]}, "e": {"enum": []}, "c": {"const": "only"}}});
    assert_eq!(
        hint(schema),
        r#"{ s?: "say \"hi\"" | "it's" | "a\\b" | "line\nbreak" | "*/"; "#.to_owned()
            + r#"m?: 1 | null | true | "x" | Record<string, unknown>; e?: never; c?: "only" }"#
    );
}

#[test]
fn d08_awkward_names_are_all_there_and_quoted() {
    let schema = codemode_catalog::parse_schema(
        r#"{"type":"object","properties":{"user-id":{"type":"string"},"a b":{"type":"string"},"1st":{"type":"number"},"class":{"type":"string"},"":{"type":"string"},"@type":{"type":"string"},"naïve":{"type":"string"},"__proto__":{"type":"string"},"quo\"te":{"type":"string"}},"required":["user-id","__proto__"]}"#,
    );
    assert_eq!(
        hint(schema),
        r#"{ "user-id": string; __proto__: string; "a b"?: string; "1st"?: number; class?: string; ""?: string; "@type"?: string; "naïve"?: string; "quo\"te"?: string }"#
    );
}

#[test]
fn d09_null_survives_in_four_spellings() {
    let schema = json!({"type": "object", "properties": {
        "a": {"type": ["string", "null"]}, "b": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "c": {"$ref": "#/$defs/D", "nullable": true}, "d": {"enum": ["x", null]}},
        "$defs": {"D": {"type": "object", "properties": {"k": {"type": "boolean"}}}},
        "required": ["a"]});
    assert_eq!(
        hint(schema),
        r#"{ a: string | null; b?: number | null; c?: { k?: boolean } | null; d?: "x" | null }"#
    );
}

#[test]
fn d11_a_schema_of_no_object_is_unknown() {
    for schema in [json!({"type": "string"}), json!(true), json!({}), json!(null), json!([])] {
        assert_eq!(hint(schema), "unknown");
    }
    assert_eq!(hint(json!({"properties": {"a": {}}})), "{ a?: unknown }");
    assert_eq!(hint(json!({"type": "object"})), "Record<string, unknown>");
    assert_eq!(hint(json!({"type": "object", "properties": {}})), "{}");
}

#[test]
fn d13_an_index_signature_fits_the_declared_properties() {
    let schema = json!({"type": "object", "properties": {"id": {"type": "integer"}},
        "additionalProperties": {"type": "string"}, "patternProperties": {"^x-": {"type": "boolean"}}});
    assert_eq!(hint(schema), "{ id?: number; [key: string]: unknown }");
    let record = json!({"type": "object", "additionalProperties": {"type": "string"}});
    assert_eq!(hint(record), "Record<string, string>");
    let open = json!({"type": "object", "patternProperties": {"^x-": {"type": "boolean"}}});
    assert_eq!(hint(open), "Record<string, unknown>");
}

#[test]
fn arrays_tuples_and_unions_read_well() {
    let schema = json!({"type": "object", "properties": {
        "a": {"type": "array", "items": {"type": "string"}},
        "b": {"type": "array", "items": {"type": "object", "properties": {"k": {"type": "string"}}}},
        "c": {"type": "array", "prefixItems": [{"type": "string"}, {"type": ["number", "null"]}],
            "minItems": 1, "items": false},
        "d": {"type": "array", "items": [{"type": "string"}], "minItems": 1},
        "e": {"oneOf": [{"type": "string"}, {"type": "array", "items": {"enum": ["x", "y"]}}]},
        "f": {"enum": [true, false, "auto"]}, "g": false, "h": {"type": ["array", "string"]}}});
    assert_eq!(
        hint(schema),
        "{ a?: string[]; b?: Array<{ k?: string }>; c?: [string, (number | null)?]; ".to_owned()
            + r#"d?: [string, ...Array<unknown>]; e?: string | Array<"x" | "y">; "#
            + r#"f?: boolean | "auto"; g?: never; h?: string | unknown[] }"#
    );
}

#[test]
fn alternatives_are_joined_to_what_they_share() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
        "anyOf": [{"required": ["a"]}, {"required": ["b"]}]});
    assert_eq!(hint(schema), "{ a?: string; b?: string } & ({ a: unknown } | { b: unknown })");
    let tagged = json!({"type": "object", "oneOf": [
        {"type": "object", "properties": {"t": {"const": 1}}, "required": ["t"]},
        {"type": "object", "properties": {"t": {"const": 2}}, "required": ["t"]}]});
    assert_eq!(hint(tagged), "{ t: 1 } | { t: 2 }");
}

#[test]
fn a_hint_is_shortened_from_the_inside_out() {
    let nested = json!({"type": "object", "required": ["filter"], "properties": {"filter": {"type": "object",
        "properties": (0..30).map(|i| (format!("field_number_{i}"), json!({"type": "string"})))
            .collect::<serde_json::Map<_, _>>()}, "limit": {"type": "integer"}}});
    assert_eq!(hint(nested), "{ filter: object; limit?: number }");
    let wide = json!({"type": "object", "required": ["path"], "properties":
        std::iter::once(("path".to_owned(), json!({"type": "string"})))
            .chain((0..3000).map(|i| (format!("option_{i}"), json!({"type": "string"}))))
            .collect::<serde_json::Map<_, _>>()});
    let text = hint(wide);
    assert!(text.starts_with("{ path: string; option_0?: string; "), "{text}");
    assert!(text.ends_with(" /* +2987 more */ }"), "{text}");
    assert!(text.chars().count() <= 300, "{text}");
}

#[test]
fn an_output_hint_is_whole_and_closed_or_absent() {
    let closed = json!({"type": "array", "items": {"type": "object", "additionalProperties": false,
        "properties": {"id": {"type": "string"}}, "required": ["id"]}});
    assert_eq!(output_hint(&closed, 850).as_deref(), Some("Array<{ id: string }>"));
    assert_eq!(output_hint(&json!({"type": "string"}), 850).as_deref(), Some("string"));
    let absent = [
        json!({"type": "object", "properties": {"id": {"type": "string"}}}),
        json!({"type": "object", "additionalProperties": {"type": "string"}}),
        json!({"type": "array", "items": {"type": "object"}}),
        json!({"$ref": "#/$defs/Missing"}),
        json!({"type": "object", "additionalProperties": false,
            "properties": {"x": {"$ref": "https://example.test/x"}}}),
        json!({"properties": {"id": {"type": "string"}}, "additionalProperties": false}),
        json!({}),
        json!(null),
        json!(true),
        json!(false),
    ];
    for schema in absent {
        assert_eq!(output_hint(&schema, 850), None, "{schema}");
    }
    let mut big = closed;
    for i in 0..100 {
        big["items"]["properties"][format!("name_{i}")] = json!({"type": "string"});
    }
    assert_eq!(output_hint(&big, 850), None);
}
