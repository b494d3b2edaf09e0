//! The checker against boon, which judges schemas here and is a validator elsewhere.

use boon::{Compiler, Schemas};
use codemode_catalog::Validator;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        (-2i64..4).prop_map(Value::from),
        Just(json!(1.0)),
        Just(json!(1.5)),
        "[ab]{0,2}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[abc]", inner, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// One keyword with what it says; `inner` are schemas.
fn keyword(inner: BoxedStrategy<Value>) -> BoxedStrategy<(&'static str, Value)> {
    let kind = || {
        prop::sample::select(vec![
            "null", "boolean", "integer", "number", "string", "array", "object",
        ])
    };
    let name = || prop::sample::select(vec!["a", "b", "c"]);
    let names = prop::collection::btree_set("[abc]", 0..3).prop_map(|names| json!(names));
    let one = |word: &'static str, inner: &BoxedStrategy<Value>| {
        inner.clone().prop_map(move |schema| (word, schema)).boxed()
    };
    let list = |word: &'static str, inner: &BoxedStrategy<Value>| {
        let several = prop::collection::vec(inner.clone(), 1..4);
        several.prop_map(move |schemas| (word, Value::from(schemas))).boxed()
    };
    let map = |word: &'static str, inner: &BoxedStrategy<Value>| {
        let several = prop::collection::btree_map("[abc]", inner.clone(), 0..3);
        several.prop_map(move |map| (word, Value::Object(map.into_iter().collect()))).boxed()
    };
    let number = |word: &'static str| (0i64..3).prop_map(move |n| (word, json!(n))).boxed();
    prop_oneof![
        6 => kind().prop_map(|kind| ("type", json!(kind))),
        1 => (kind(), kind()).prop_filter("unique", |(a, b)| a != b)
            .prop_map(|(a, b)| ("type", json!([a, b]))),
        2 => value().prop_map(|value| ("const", value)),
        2 => prop::collection::vec(value(), 1..3).prop_map(|values| ("enum", json!(values))),
        2 => prop_oneof![number("minimum"), number("maximum"), number("exclusiveMinimum"),
            number("exclusiveMaximum"), number("minLength"), number("maxLength"),
            number("minItems"), number("maxItems"), number("minProperties"),
            number("maxProperties"), number("minContains"), number("maxContains")],
        1 => (1i64..3).prop_map(|n| ("multipleOf", json!(n))),
        1 => Just(("uniqueItems", json!(true))),
        1 => "[ab]\\*?".prop_map(|pattern| ("pattern", json!(pattern))),
        3 => names.prop_map(|names| ("required", names)),
        1 => (name(), name()).prop_map(|(a, b)| ("dependentRequired", json!({a: [b]}))),
        8 => prop_oneof![map("properties", &inner), map("properties", &inner),
            map("patternProperties", &inner), map("dependentSchemas", &inner),
            map("dependencies", &inner)],
        8 => prop_oneof![list("anyOf", &inner), list("oneOf", &inner), list("allOf", &inner),
            list("prefixItems", &inner)],
        8 => prop_oneof![one("items", &inner), one("additionalProperties", &inner),
            one("not", &inner), one("if", &inner), one("then", &inner), one("else", &inner),
            one("contains", &inner), one("propertyNames", &inner),
            one("unevaluatedProperties", &inner), one("unevaluatedItems", &inner)],
        2 => prop::sample::select(vec!["#", "#/$defs/A", "#/$defs/B", "#b"])
            .prop_map(|place| ("$ref", json!(place))),
    ]
    .boxed()
}

fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![Just(json!(true)), Just(json!(false)), Just(json!({}))].boxed();
    let inner = leaf.prop_recursive(3, 24, 4, |inner| {
        prop::collection::vec(keyword(inner.boxed()), 0..4)
            .prop_map(|said| Value::Object(said.into_iter().map(own).collect()))
    });
    let object = |v: &Value| v.is_object();
    (inner.clone().prop_filter("root", object), inner.clone(), inner.prop_filter("root", object))
        .prop_map(|(mut root, a, mut b)| {
            b["$anchor"] = json!("b");
            root["$defs"] = json!({"A": a, "B": b});
            root
        })
}

fn own((key, value): (&str, Value)) -> (String, Value) {
    (key.to_owned(), value)
}

/// What boon says; `None` where a reference leads to itself, which it refuses always.
fn expected(schema: &Value, value: &Value) -> Option<bool> {
    let mut compiler = Compiler::new();
    compiler.add_resource("schema:///test", schema.clone()).unwrap();
    let mut schemas = Schemas::new();
    let root = compiler.compile("schema:///test", &mut schemas).unwrap();
    let answer = schemas.validate(value, root);
    let cycles = answer.as_ref().is_err_and(|error| format!("{error:?}").contains("RefCycle"));
    (!cycles).then_some(answer.is_ok())
}

/// Whether a reference is reached from its target without a step into the value: boon does not
/// say so where an alternative hides it.
fn turns_in_place(schema: &Value) -> bool {
    fn reaches<'a>(root: &'a Value, at: &'a Value, path: &mut Vec<*const Value>) -> bool {
        if path.contains(&std::ptr::from_ref(at)) {
            return true;
        }
        path.push(at);
        let mut next: Vec<&Value> = Vec::new();
        for (key, said) in at.as_object().unwrap_or(&Map::new()) {
            match (key.as_str(), said) {
                ("$ref", Value::String(place)) => {
                    let place = if place == "#b" { "#/$defs/B" } else { place };
                    next.extend(root.pointer(&place[1..]));
                }
                ("anyOf" | "oneOf" | "allOf", Value::Array(several)) => {
                    for i in 0..several.len() {
                        next.extend(at.pointer(&format!("/{key}/{i}")));
                    }
                }
                ("not" | "if" | "then" | "else", _) => next.extend(at.get(key)),
                ("dependentSchemas" | "dependencies", Value::Object(several)) => {
                    next.extend(several.keys().filter_map(|name| at.get(key)?.get(name)));
                }
                _ => {}
            }
        }
        let found = next.into_iter().any(|next| reaches(root, next, path));
        path.pop();
        found
    }
    fn anywhere(root: &Value, at: &Value) -> bool {
        reaches(root, at, &mut Vec::new())
            || match at {
                Value::Object(members) => members.values().any(|inner| anywhere(root, inner)),
                Value::Array(items) => items.iter().any(|inner| anywhere(root, inner)),
                _ => false,
            }
    }
    anywhere(schema, schema)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, ..ProptestConfig::default() })]
    #[test]
    fn the_answer_is_that_of_a_full_validator(schema in schema(), value in value()) {
        prop_assume!(!turns_in_place(&schema));
        let validator = Validator::for_output(schema.clone()).unwrap();
        let answer = validator.check_output(&value);
        if let Some(expected) = expected(&schema, &value) {
            prop_assert_eq!(answer.is_ok(), expected, "{} {} {:?}", schema, value, answer);
        }
        // What is said of it never fails, whatever is wrong.
        let input = Validator::for_input(schema).check_input(&value);
        prop_assert!(input.is_ok() || !input.unwrap_err().to_string().is_empty());
    }
}
