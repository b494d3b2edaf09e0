//! Schemas made ready for checking. Nothing outside the document is ever loaded.

use std::error::Error;

use boon::{
    CompileError, Compiler, Draft, Format, SchemaIndex, Schemas, UrlLoader, ValidationError,
};
use regex::RegexBuilder;
use serde_json::Value;

use super::stack::with_room;
use crate::schema::facets::lookup;
use crate::text::{clip, comment_line};

/// Where the document is said to be, so that relative references have a base.
const PLACE: &str = "schema:///tool";

/// Bytes that one compiled pattern may take.
const PATTERN_BYTES: usize = 1 << 20;

/// Drafts that a schema without `$schema` may be of. In the older one `items` can be a list.
const DRAFTS: [Draft; 2] = [Draft::V2020_12, Draft::V2019_09];

/// Formats that the compiler would otherwise enforce in old drafts.
const FORMATS: [&str; 19] = [
    "ipv4",
    "ipv6",
    "hostname",
    "idn-hostname",
    "email",
    "idn-email",
    "date",
    "time",
    "date-time",
    "duration",
    "period",
    "json-pointer",
    "relative-json-pointer",
    "uuid",
    "uri",
    "iri",
    "uri-reference",
    "iri-reference",
    "uri-template",
];

/// A schema that can be checked against.
pub(super) struct Compiled {
    schemas: Schemas,
    root: SchemaIndex,
}

impl std::fmt::Debug for Compiled {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Compiled").finish_non_exhaustive()
    }
}

impl Compiled {
    /// Compiles `schema`, or says what is wrong with it.
    pub(super) fn strict(schema: &Value) -> Result<Self, String> {
        let work = || {
            any_draft(&relaxed(schema, false))
                .map_err(|error| clip(&comment_line(&error, 600), 400))
        };
        with_room(schema, work)
            .unwrap_or_else(|| Err("it is nested too deep to be compiled".to_owned()))
    }

    /// Compiles what can be of `schema`; references that lead nowhere allow anything.
    pub(super) fn lenient(schema: &Value) -> Option<Self> {
        let work = || {
            any_draft(&relaxed(schema, false)).or_else(|_| any_draft(&relaxed(schema, true))).ok()
        };
        with_room(schema, work).flatten()
    }

    /// Checks a value; `explain` puts what is wrong into words.
    pub(super) fn check(
        &self,
        value: &Value,
        explain: impl Fn(&ValidationError<'_, '_>) -> String + Sync,
    ) -> Result<(), String> {
        let check = || self.schemas.validate(value, self.root).map_err(|error| explain(&error));
        with_room(value, check)
            .unwrap_or_else(|| Err("it is nested too deep to be checked".to_owned()))
    }
}

fn any_draft(schema: &Value) -> Result<Compiled, String> {
    let first = match compile(schema, DRAFTS[0]) {
        Ok(compiled) => return Ok(compiled),
        Err(error) => error,
    };
    compile(schema, DRAFTS[1]).map_err(|_| first)
}

fn compile(schema: &Value, draft: Draft) -> Result<Compiled, String> {
    let mut compiler = Compiler::new();
    compiler.set_default_draft(draft);
    compiler.use_loader(Box::new(Nowhere));
    for name in FORMATS {
        compiler.register_format(Format { name, func: |_| Ok(()) });
    }
    let mut schemas = Schemas::new();
    compiler.add_resource(PLACE, schema.clone()).map_err(explain)?;
    let root = compiler.compile(PLACE, &mut schemas).map_err(explain)?;
    Ok(Compiled { schemas, root })
}

#[allow(clippy::needless_pass_by_value)] // the shape that `map_err` wants
fn explain(error: CompileError) -> String {
    format!("{error:#}").replace(PLACE, "")
}

/// Refuses to load anything.
struct Nowhere;

impl UrlLoader for Nowhere {
    fn load(&self, _url: &str) -> Result<Value, Box<dyn Error>> {
        Err("references to other documents are not followed".into())
    }
}

/// A copy without the patterns that cannot be run, and if `references` without the references
/// that lead out of the document or nowhere in it.
fn relaxed(schema: &Value, references: bool) -> Value {
    let mut copy = schema.clone();
    relax(schema, &mut copy, references);
    copy
}

fn relax(root: &Value, node: &mut Value, references: bool) {
    match node {
        Value::Array(items) => items.iter_mut().for_each(|item| relax(root, item, references)),
        Value::Object(members) => {
            let is_lost = |r: &Value| r.as_str().is_none_or(|r| lookup(root, r).is_none());
            if references && members.get("$ref").is_some_and(is_lost) {
                members.shift_remove("$ref");
            }
            if members.get("pattern").and_then(Value::as_str).is_some_and(cannot_run) {
                members.shift_remove("pattern");
            }
            if let Some(Value::Object(patterns)) = members.get_mut("patternProperties") {
                let before = patterns.len();
                patterns.retain(|pattern, _| !cannot_run(pattern));
                if patterns.len() < before {
                    // What the pattern allowed would now count as not declared.
                    members.shift_remove("additionalProperties");
                    members.shift_remove("unevaluatedProperties");
                }
            }
            for (key, member) in members {
                // Values, not schemas.
                if !matches!(key.as_str(), "const" | "enum" | "default" | "examples") {
                    relax(root, member, references);
                }
            }
        }
        _ => {}
    }
}

/// Whether a pattern looks around, or back at its own groups, or is too large.
fn cannot_run(pattern: &str) -> bool {
    let back = |pair: &[u8]| pair[0] == b'\\' && matches!(pair[1], b'1'..=b'9' | b'k');
    ["(?=", "(?!", "(?<=", "(?<!"].iter().any(|group| pattern.contains(group))
        || pattern.as_bytes().windows(2).any(back)
        || matches!(
            RegexBuilder::new(pattern).size_limit(PATTERN_BYTES).build(),
            Err(regex::Error::CompiledTooBig(_))
        )
}
