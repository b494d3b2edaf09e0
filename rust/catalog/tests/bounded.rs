//! No schema and no value takes long: neither to check, nor to explain, mend or describe.

use std::time::{Duration, Instant};

use codemode_catalog::{Validator, input_hint, output_hint};
use serde_json::{Value, json};

/// Far more than any case here takes, and far less than one that grows with a power.
const LONG: Duration = Duration::from_secs(2);

fn timed<R>(what: &str, work: impl FnOnce() -> R) -> R {
    let start = Instant::now();
    let out = work();
    let took = start.elapsed();
    println!("{what}: {took:?}");
    assert!(took < LONG, "{what} took {took:?}");
    out
}

fn checked(what: &str, schema: &Value, mut input: Value) -> Result<(), String> {
    let validator = timed(what, || Validator::for_input(schema.clone()));
    timed(what, || {
        validator.coerce(&mut input);
        validator.check_input(&input).map_err(|e| e.to_string())
    })
}

/// A document of blocks, which differ by a constant.
fn blocks(keyword: &str, kinds: &[&str]) -> Value {
    let block = |kind: &&str| {
        json!({"type": "object", "required": ["type"], "properties": {"type": {"const": kind},
            "content": {"type": "array", "items": {"$ref": "#/$defs/N"}}}})
    };
    let several: Vec<Value> = kinds.iter().map(block).collect();
    json!({"type": "object", "properties": {"doc": {"$ref": "#/$defs/N"}},
        "$defs": {"N": {keyword: several}}})
}

fn nested(depth: usize, leaf: Value, around: impl Fn(Value) -> Value) -> Value {
    json!({"doc": (0..depth).fold(leaf, |inner, _| around(inner))})
}

#[test]
fn alternatives_that_hold_each_other_are_checked_at_any_depth() {
    let list = |inner| json!({"type": "list", "content": [inner]});
    for keyword in ["oneOf", "anyOf"] {
        let schema = blocks(keyword, &["quote", "list", "panel"]);
        for depth in [10, 100, 250] {
            let good = nested(depth, json!({"type": "panel"}), list);
            checked(keyword, &schema, good.clone()).unwrap();
            Validator::for_output(schema.clone()).unwrap().check_output(&good).unwrap();
            let bad = nested(depth, json!({"type": "none"}), list);
            let said = checked(keyword, &schema, bad.clone()).unwrap_err();
            assert!(said.len() < 400 && said.starts_with("\"doc\" must be "), "{said}");
            Validator::for_output(schema.clone()).unwrap().check_output(&bad).unwrap_err();
        }
        timed("hints", || (input_hint(&schema, 300), output_hint(&schema, 850)));
    }
}

#[test]
fn alternatives_that_nothing_tells_apart_are_checked_at_any_depth() {
    let items = json!({"type": "array", "items": {"$ref": "#/$defs/N"}});
    let all = |word: &str| json!({"properties": {"and": items}, "required": [word]});
    for (what, node) in [
        ("anyOf", json!({"anyOf": [all("no"), all("not"), all("and"), true]})),
        ("oneOf", json!({"oneOf": [all("no"), all("and"), all("not")]})),
        ("allOf", json!({"allOf": [all("and"), all("and"), all("and")]})),
        ("not", json!({"not": {"not": all("and")}, "allOf": [all("and")]})),
        ("if", json!({"if": all("and"), "then": all("and"), "else": all("and")})),
        (
            "contains",
            json!({"properties": {"and": {"minContains": 0, "contains": {"$ref": "#/$defs/N"},
            "items": {"$ref": "#/$defs/N"}, "prefixItems": [{"$ref": "#/$defs/N"}]}}}),
        ),
        (
            "unevaluated",
            json!({"anyOf": [all("no"), all("and")], "oneOf": [all("and")],
            "unevaluatedProperties": false}),
        ),
        (
            "members",
            json!({"patternProperties": {"a": items, "n": items, "d": items},
            "additionalProperties": {"$ref": "#/$defs/N"}}),
        ),
        (
            "dependent",
            json!({"dependentSchemas": {"and": all("and"), "or": all("or")},
            "allOf": [all("and")]}),
        ),
    ] {
        let schema = json!({"type": "object", "properties": {"doc": {"$ref": "#/$defs/N"}},
            "$defs": {"N": node}});
        // The last one that is in may lack "and": most of these are refused at the leaf.
        let value = nested(120, json!({"and": []}), |inner| json!({"and": [inner]}));
        checked(what, &schema, value).unwrap();
        let wrong = nested(120, json!({"and": 1}), |inner| json!({"and": [inner]}));
        let answer = checked(what, &schema, wrong);
        assert!(answer.is_err() || matches!(what, "anyOf" | "contains"), "{what}: {answer:?}");
    }
    let dynamic = json!({"$dynamicAnchor": "n", "type": "object", "properties":
        {"a": {"anyOf": [{"required": ["x"], "properties": {"a": {"$dynamicRef": "#n"}}},
            {"$dynamicRef": "#n"}]}}});
    let value = (0..200).fold(json!({}), |inner, _| json!({"a": inner}));
    checked("$dynamicRef", &dynamic, value).unwrap();
}

#[test]
fn alternatives_nested_in_the_schema_are_checked_once() {
    // Each definition has the next one twice.
    let mut defs = json!({"D60": {"type": "string"}});
    for i in 0..60 {
        let next = json!({"$ref": format!("#/$defs/D{}", i + 1)});
        defs[format!("D{i}")] =
            json!({"anyOf": [{"allOf": [next, next]}, {"oneOf": [next, next]}]});
    }
    let schema =
        json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/D0"}}, "$defs": defs});
    checked("chain", &schema, json!({"a": "x"})).unwrap();
    checked("chain", &schema, json!({"a": 1})).unwrap_err();
    timed("hints", || (input_hint(&schema, 300), output_hint(&schema, 850)));
    // As much as is parsed of a schema.
    let mut deep = json!({"properties": {"a": {}}});
    for _ in 0..45 {
        deep = json!({"unevaluatedProperties": false, "anyOf": [deep]});
    }
    let validator = Validator::for_output(deep).unwrap();
    timed("unevaluated", || validator.check_output(&json!({"a": 1}))).unwrap();
}

#[test]
fn a_chain_of_references_is_as_long_as_it_likes() {
    let mut defs = json!({"D2000": {"type": "string"}});
    for i in 0..2000 {
        defs[format!("D{i}")] = json!({"$ref": format!("#/$defs/D{}", i + 1)});
    }
    let schema =
        json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/D0"}}, "$defs": defs});
    checked("chain", &schema, json!({"a": "x"})).unwrap();
    checked("chain", &schema, json!({"a": 1})).unwrap_err();
}

#[test]
fn large_values_are_checked_in_proportion() {
    let list = |items: Value| json!({"type": "object", "properties": {"v": items}});
    let many =
        |item: &dyn Fn(usize) -> Value| json!({"v": (0..50_000).map(item).collect::<Vec<_>>()});
    let unique = list(json!({"type": "array", "uniqueItems": true}));
    checked("unique", &unique, many(&|i| json!({"i": i}))).unwrap();
    checked("unique", &unique, many(&|i| json!((1i64 << 60) + i as i64))).unwrap();
    checked("unique", &unique, many(&|i| json!([i / 2]))).unwrap_err();
    let objects = list(json!({"type": "array", "items": {"type": "object"}}));
    let said = checked("wrong items", &objects, many(&|i| json!(i))).unwrap_err();
    assert!(said.ends_with("; and 61 more") && said.len() < 200, "{said}");
    let keys: Value = (0..50_000).map(|i| (format!("k{i}"), json!(i))).collect();
    let closed = json!({"type": "object", "properties": {"a": {}}, "additionalProperties": false});
    let said = checked("unknown fields", &closed, keys.clone()).unwrap_err();
    assert!(said.contains("49995 more") && said.len() < 200, "{said}");
    let patterns: Value =
        (0..50).map(|i| (format!("^(a|b)*{i}$"), json!({"type": "string"}))).collect();
    let schema = json!({"type": "object", "patternProperties": patterns});
    let answer = checked("patterns", &schema, keys);
    assert!(answer.is_ok() || answer.unwrap_err().contains("too long"));
}

#[test]
fn what_takes_too_long_is_refused_and_says_so() {
    let alternatives: Vec<Value> = (0..800)
        .map(|i| json!({"properties": {"k": {"type": "string", "minLength": i}}}))
        .collect();
    let schema = json!({"type": "object", "properties":
        {"v": {"type": "array", "items": {"allOf": alternatives}}}});
    let text = "x".repeat(6_000);
    let input = json!({"v": vec![json!({"k": text}); 2_000]});
    let said = checked("product", &schema, input).unwrap_err();
    assert_eq!(said, "it takes too long to be checked; send less");
}

#[test]
fn text_is_parsed_only_up_to_a_size() {
    let schema = json!({"type": "object", "properties":
        {"v": {"type": "array", "items": {"type": "array"}}}});
    let validator = Validator::for_input(schema.clone());
    let mut small = json!({"v": format!("[{}[]]", "[],".repeat(100_000))});
    assert_eq!(validator.coerce(&mut small).len(), 1);
    let large = json!({"v": format!("[{}[]]", "[],".repeat(2_000_000))});
    let said = checked("large text", &schema, large).unwrap_err();
    assert_eq!(said, r#""v" must be array, got string"#);
    checked("many texts", &schema, json!({"v": vec!["[]"; 60_000]})).unwrap();
}

#[test]
fn a_reference_that_leads_to_itself_says_nothing() {
    for (node, good, bad) in [
        (json!({"$ref": "#/$defs/B"}), json!(1), None),
        (
            json!({"allOf": [{"$ref": "#/$defs/A"}, {"type": "object", "properties":
            {"x": {"type": "integer"}}}]}),
            json!({"x": 1}),
            Some(json!({"x": "y"})),
        ),
        (json!({"anyOf": [{"$ref": "#/$defs/A"}, {"type": "string"}]}), json!("a"), None),
    ] {
        let schema = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}},
            "$defs": {"A": node, "B": {"$ref": "#/$defs/A"}}});
        checked("cycle", &schema, json!({"a": good})).unwrap();
        if let Some(bad) = bad {
            let said = checked("cycle", &schema, json!({"a": bad})).unwrap_err();
            assert_eq!(said, r#""a.x" must be integer, got string"#);
        }
    }
}

#[test]
fn null_passes_where_the_hint_says_so() {
    let named = json!({"type": "string", "nullable": true});
    for (schema, passes) in [
        (named.clone(), true),
        (json!({"type": "string", "enum": ["a"], "nullable": true}), true),
        (json!({"$ref": "#/$defs/N"}), true),
        (json!({"allOf": [{"$ref": "#/$defs/S"}], "nullable": true}), true),
        (json!({"allOf": [{"$ref": "#/$defs/N"}]}), true),
        (json!({"type": "string", "allOf": [{"$ref": "#/$defs/N"}]}), false),
        (json!({"type": "string", "nullable": false}), false),
        (json!({"type": "string"}), false),
    ] {
        let whole = json!({"type": "object", "required": ["a"], "properties": {"a": schema},
            "$defs": {"N": named, "S": {"type": "string"}}});
        let hint = input_hint(&whole, 300);
        assert_eq!(hint.contains("null"), passes, "{hint}");
        assert_eq!(checked("null", &whole, json!({"a": null})).is_ok(), passes, "{schema}");
        checked("text", &whole, json!({"a": "a"})).unwrap();
        checked("number", &whole, json!({"a": 1})).unwrap_err();
    }
}

#[test]
fn a_schema_that_a_program_made_is_compiled_in_time() {
    for schema in [
        json!({"type": "string", "pattern": r"\d".repeat(10_000)}),
        json!({"type": "string", "pattern": "a|".repeat(30_000)}),
        json!({"type": "object", "patternProperties": {r"\w".repeat(10_000): true}}),
    ] {
        timed("pattern", || Validator::for_output(schema)).unwrap();
    }
}

#[test]
fn multiples_are_those_of_the_decimal_number() {
    let schema = json!({"type": "object", "properties": {"a": {"multipleOf": 0.01}}});
    for good in [0.0, 19.99, 1.1, 0.07, 1e6, 123_456.78] {
        checked("multiple", &schema, json!({"a": good})).unwrap();
    }
    for bad in [0.005, 19.999, 1.0001] {
        checked("multiple", &schema, json!({"a": bad})).unwrap_err();
    }
}
