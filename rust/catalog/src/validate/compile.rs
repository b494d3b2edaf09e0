//! Schemas made ready for checking. Nothing outside the document is ever loaded.

use std::error::Error;

use boon::{CompileError, Compiler, Draft, Schemas, UrlLoader};
use regex::{Regex, RegexBuilder};
use serde_json::Value;

use super::program::Program;
use super::stack::with_room;
use crate::schema::facets::lookup;
use crate::text::{clip, comment_line};

/// Where the document is said to be, so that relative references have a base.
pub(super) const PLACE: &str = "schema:///tool";

/// Bytes that one compiled pattern may take.
const PATTERN_BYTES: usize = 1 << 20;
/// Bytes of a pattern's text times its classes: what boon takes to read it.
const PATTERN_WORK: usize = 100_000;

/// Drafts that a schema without `$schema` may be of. In the older one `items` can be a list.
const DRAFTS: [Draft; 2] = [Draft::V2020_12, Draft::V2019_09];

/// Compiles `schema`, or says what is wrong with it.
pub(super) fn strict(schema: &Value) -> Result<Program, String> {
    let work = || {
        any_draft(&relaxed(schema, false)).map_err(|error| clip(&comment_line(&error, 600), 400))
    };
    with_room(schema, work)
        .unwrap_or_else(|| Err("it is nested too deep to be compiled".to_owned()))
}

/// Compiles what can be of `schema`; references that lead nowhere allow anything.
pub(super) fn lenient(schema: &Value) -> Option<Program> {
    let work =
        || any_draft(&relaxed(schema, false)).or_else(|_| any_draft(&relaxed(schema, true))).ok();
    with_room(schema, work).flatten()
}

fn any_draft(schema: &Value) -> Result<Program, String> {
    judged(schema, DRAFTS[0]).or_else(|first| judged(schema, DRAFTS[1]).map_err(|_| first))?;
    Ok(Program::new(schema))
}

/// Whether it is a schema, and its references lead somewhere. boon knows that of every draft;
/// it does not check values, since nothing bounds the time that it takes for them.
fn judged(schema: &Value, draft: Draft) -> Result<(), String> {
    let mut compiler = Compiler::new();
    compiler.set_default_draft(draft);
    compiler.use_loader(Box::new(Nowhere));
    let mut schemas = Schemas::new();
    compiler.add_resource(PLACE, schema.clone()).map_err(explain)?;
    compiler.compile(PLACE, &mut schemas).map(drop).map_err(explain)
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
    let classes = pattern.matches('\\').count() + 1;
    pattern.len() * classes > PATTERN_WORK
        || ["(?=", "(?!", "(?<=", "(?<!"].iter().any(|group| pattern.contains(group))
        || pattern.as_bytes().windows(2).any(back)
        || matches!(regex_of(pattern), Err(regex::Error::CompiledTooBig(_)))
}

/// A pattern as schemas mean it: the classes of JavaScript.
pub(super) fn regex_of(pattern: &str) -> Result<Regex, regex::Error> {
    let mut out = String::with_capacity(pattern.len());
    let mut rest = pattern.chars();
    while let Some(c) = rest.next() {
        let escaped = if c == '\\' { rest.next() } else { None };
        match escaped {
            Some('d') => out.push_str("[0-9]"),
            Some('D') => out.push_str("[^0-9]"),
            Some('w') => out.push_str("[A-Za-z0-9_]"),
            Some('W') => out.push_str("[^A-Za-z0-9_]"),
            Some('s') => out.push_str(r"[\s\x{feff}]"),
            Some('S') => out.push_str(r"[^\s\x{feff}]"),
            Some('c') => match rest.next() {
                Some(letter) => out.extend(char::from_u32(letter as u32 % 32)),
                None => out.push_str(r"\c"),
            },
            _ => {
                out.push(c);
                out.extend(escaped);
            }
        }
    }
    RegexBuilder::new(&out).size_limit(PATTERN_BYTES).build()
}
