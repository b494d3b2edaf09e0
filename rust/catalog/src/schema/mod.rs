//! JSON Schema as TypeScript: one renderer for hints, the quick index and declarations.
//!
//! Any JSON value gives a type that parses. Work and size are bounded: what is too deep, cyclic,
//! dangling or elsewhere reads `unknown`, which is always true of it.

mod build;
pub(crate) mod facets;
mod print;
mod types;

pub(crate) use build::{Order, build, build_place};
pub(crate) use print::{Style, print};
pub(crate) use types::Type;

use print::print_some;
use serde_json::Value;

/// Characters of an input hint, unless told otherwise.
pub const INPUT_HINT_CHARS: usize = 300;

/// Characters of an output hint, unless told otherwise.
pub const OUTPUT_HINT_CHARS: usize = 850;

/// A one-line signature of a tool's input, for example `{ path: string; limit?: number }`.
///
/// Required properties first, at most `max` characters. What does not fit is shortened in this
/// order: long lists of literals, nested objects, and at last properties, which a comment counts:
/// `{ path: string; /* +12 more */ }`. A schema of something else than an object gives `unknown`.
pub fn input_hint(schema: &Value, max: usize) -> String {
    // More nodes than characters could never be shown, except that each property is counted.
    let built = build(schema, max.saturating_mul(2), Order::RequiredFirst);
    if !may_be_object(&built.kind) {
        return "unknown".to_owned();
    }
    shortened(&built.kind, max).unwrap_or_else(|| "unknown".to_owned())
}

/// The type of one place of a schema document within `max` characters.
pub(crate) fn input_type(root: &Value, place: &Value, max: usize) -> Option<String> {
    shortened(&build_place(root, place, max, Order::RequiredFirst).kind, max)
}

/// A type within `max` characters, whatever has to be left out.
pub(crate) fn shortened(kind: &Type<'_>, max: usize) -> Option<String> {
    let style = |levels, literals| Style { max, levels, literals, indent: None };
    [style(24, usize::MAX), style(24, 12), style(3, 12), style(2, 6), style(1, 3)]
        .into_iter()
        .find_map(|style| print(kind, style))
        .or_else(|| match kind {
            Type::Object(object) => print_some(object, style(2, 3)),
            // Members that have a shape to show come first in a shortened union.
            Type::Union(members) | Type::Intersection(members) => {
                print(&Type::Union(members.clone()), style(0, 3))
            }
            _ => None,
        })
}

/// A one-line type of a tool's result, if the whole schema fits into `max` characters and every
/// object in it is closed (`additionalProperties: false`); else `None`.
pub fn output_hint(schema: &Value, max: usize) -> Option<String> {
    let says_something = |kind: &Type<'_>| !matches!(kind, Type::Unknown | Type::Word("never"));
    let built = build(schema, max, Order::RequiredFirst);
    if !built.exact || !says_something(&built.kind) {
        return None;
    }
    print(&built.kind, Style { max, levels: usize::MAX, literals: usize::MAX, indent: None })
}

fn may_be_object(kind: &Type<'_>) -> bool {
    match kind {
        Type::Object(_) => true,
        Type::Union(members) | Type::Intersection(members) => members.iter().any(may_be_object),
        _ => false,
    }
}
