//! Values as trees, for the tests of the codec.
#![allow(dead_code, unreachable_pub)]

use codemode_wire::{Decoder, Encoder, Event, MAX_SAFE_INTEGER, WireError};
use proptest::prelude::*;

#[derive(Debug, Clone, PartialEq)]
pub enum Tree {
    Null,
    Bool(bool),
    Int(i64),
    BigInt(String),
    Float(f64),
    String(String),
    Array(Vec<Tree>),
    Object(Vec<(String, Tree)>),
}

pub fn write(e: &mut Encoder, tree: &Tree) {
    match tree {
        Tree::Null => e.null(),
        Tree::Bool(v) => e.bool(*v),
        Tree::Int(v) => e.int(*v),
        Tree::BigInt(v) => e.bigint(v),
        Tree::Float(v) => e.number(*v),
        Tree::String(v) => e.string(v),
        Tree::Array(items) => {
            let mut open = e.begin_array();
            for item in items {
                e.element(&mut open);
                write(e, item);
            }
            e.end(open);
        }
        Tree::Object(members) => {
            let mut open = e.begin_object();
            for (key, value) in members {
                e.key(&mut open, key);
                write(e, value);
            }
            e.end(open);
        }
    }
}

pub fn encode(tree: &Tree) -> Vec<u8> {
    let mut e = Encoder::new();
    write(&mut e, tree);
    e.into_bytes()
}

/// Reads one value; the caller has checked its depth.
pub fn read(d: &mut Decoder<'_>) -> Result<Tree, WireError> {
    Ok(match d.next_event()? {
        Event::Null => Tree::Null,
        Event::Bool(v) => Tree::Bool(v),
        Event::Int(v) => Tree::Int(v),
        Event::BigInt(v) => Tree::BigInt(v.into()),
        Event::Float(v) => Tree::Float(v),
        Event::String(v) => Tree::String(v.into()),
        Event::Array(n) => Tree::Array((0..n).map(|_| read(d)).collect::<Result<_, _>>()?),
        Event::Object(n) => Tree::Object(
            (0..n).map(|_| Ok((d.key()?.to_owned(), read(d)?))).collect::<Result<_, _>>()?,
        ),
    })
}

/// The value as compact JSON text, with the characters escaped that JSON must escape.
pub fn json(tree: &Tree) -> String {
    match tree {
        Tree::Null => "null".into(),
        Tree::Bool(v) => v.to_string(),
        Tree::Int(v) => v.to_string(),
        Tree::BigInt(v) => v.clone(),
        Tree::Float(v) => ryu_js::Buffer::new().format(*v).to_owned(),
        Tree::String(v) => json_string(v),
        Tree::Array(items) => {
            format!("[{}]", items.iter().map(json).collect::<Vec<_>>().join(","))
        }
        Tree::Object(members) => {
            let members = members.iter().map(|(k, v)| format!("{}:{}", json_string(k), json(v)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(","))
        }
    }
}

fn json_string(v: &str) -> String {
    let mut out = String::from("\"");
    for c in v.chars() {
        match c {
            '"' => out += "\\\"",
            '\\' => out += "\\\\",
            '\n' => out += "\\n",
            '\r' => out += "\\r",
            '\t' => out += "\\t",
            '\u{8}' => out += "\\b",
            '\u{c}' => out += "\\f",
            c if c < ' ' => {
                out.extend(['\\', 'u', '0', '0', hex(c as u32 >> 4), hex(c as u32 & 15)]);
            }
            c => out.push(c),
        }
    }
    out + "\""
}

fn hex(digit: u32) -> char {
    char::from_digit(digit, 16).expect("less than 16")
}

/// Any value whose numbers are in the form in which they are read back.
pub fn trees() -> impl Strategy<Value = Tree> {
    let fraction = any::<f64>().prop_filter("a number that stays a float", |v| {
        #[allow(clippy::cast_precision_loss)]
        let exact = MAX_SAFE_INTEGER as f64;
        v.is_finite() && (v.fract() != 0.0 || v.abs() > exact)
    });
    let leaf = prop_oneof![
        Just(Tree::Null),
        any::<bool>().prop_map(Tree::Bool),
        (-MAX_SAFE_INTEGER..=MAX_SAFE_INTEGER).prop_map(Tree::Int),
        (-1000_i64..1000).prop_map(Tree::Int),
        "-?[1-9][0-9]{16,60}".prop_map(Tree::BigInt),
        fraction.prop_map(Tree::Float),
        any::<String>().prop_map(Tree::String),
    ];
    leaf.prop_recursive(6, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Tree::Array),
            prop::collection::vec((any::<String>(), inner), 0..8).prop_map(Tree::Object),
        ]
    })
}

/// Bytes of any value.
pub fn values() -> impl Strategy<Value = Vec<u8>> {
    trees().prop_map(|tree| encode(&tree))
}
