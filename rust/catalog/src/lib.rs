//! What the catalog of tools needs that is heavy and pure: JSON Schema as TypeScript, the quick
//! index, search, names, validation. No I/O, no Python; every input may be hostile.

mod catalog;
mod index;
pub mod mcp;
pub mod names;
mod parse;
pub mod schema;
pub mod search;
mod text;
pub mod validate;
mod wire_value;

pub use catalog::{Catalog, Entry, Hints};
pub use index::{Line, QUICK_INDEX_CHARS, QuickIndex, quick_index};
pub use names::{Lookup, SafeName, safe_names};
pub use parse::parse_schema;
pub use schema::{INPUT_HINT_CHARS, OUTPUT_HINT_CHARS, input_hint, output_hint};
pub use search::{Document, SearchIndex};
/// A parsed JSON value.
pub use serde_json::Value as Json;
pub use text::quote;
pub use validate::{Problem, Validator};
pub use wire_value::value_from_wire;
