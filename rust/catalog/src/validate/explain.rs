//! What a model, or a tool's author, needs to know to get it right the next time.

use std::fmt::Write as _;

use rustc_hash::FxHashSet;
use serde_json::Value;

use super::check::{Check, Stop, Token};
use super::program::Program;
use super::rules::{At, Bound, Node, Rule, Size};
use crate::schema::input_type;
use crate::text::{clip, property_name, quote};

/// Errors of one value that are looked at to find the most telling ones.
const LOOKED_AT: usize = 64;
/// Errors that are told.
const TOLD: usize = 3;
/// Names that are listed at most.
const NAMES: usize = 5;
/// Characters of an expected type.
const TYPE_CHARS: usize = 200;

/// An input that is no object at all.
pub(super) fn not_an_object(input: &Value) -> String {
    format!("the input must be one object, got {}", kind_of(input))
}

/// A rule that does not hold, and where.
pub(super) struct Leaf<'a> {
    node: &'a Node,
    rule: &'a Rule,
    path: Vec<Token<'a>>,
    value: &'a Value,
    /// Of alternatives: more than one fits where one must.
    fits_several: bool,
}

/// The rules that do not hold; alternatives count as one.
pub(super) fn leaves<'a>(program: &'a Program, value: &'a Value, depth: usize) -> Vec<Leaf<'a>> {
    let mut teller = Teller { out: Vec::new(), path: Vec::new(), seen: FxHashSet::default() };
    let mut check = Check::new(program, value, depth);
    // What was found before it had to stop is as good.
    let _: Result<bool, Stop> = teller.tell(&mut check, 0, value);
    teller.out
}

struct Teller<'a> {
    out: Vec<Leaf<'a>>,
    path: Vec<Token<'a>>,
    seen: FxHashSet<(At, *const Value)>,
}

impl<'a> Teller<'a> {
    /// Looks into a node that `value` is not of; false when enough is found.
    fn tell(&mut self, check: &mut Check<'a, 'a>, at: At, value: &'a Value) -> Result<bool, Stop> {
        if !self.seen.insert((at, std::ptr::from_ref(value))) {
            return Ok(true);
        }
        let program = check.program;
        let node = &program.nodes[at];
        for rule in &node.rules {
            if check.holds(rule, value)? {
                continue;
            }
            let mut inside = false;
            let go_on = check.parts(rule, value, &mut |check, token, at, part| {
                if check.valid(at, part)? {
                    return Ok(true);
                }
                inside = true;
                self.path.extend(token);
                let go_on = self.tell(check, at, part)?;
                self.path.truncate(self.path.len() - usize::from(token.is_some()));
                Ok(go_on)
            })?;
            let closed = match (rule, value) {
                (Rule::Members(members), Value::Object(object)) => {
                    members.closed && members.undeclared(object).next().is_some()
                }
                _ => false,
            };
            if closed || !inside {
                let fits_several = match rule {
                    Rule::One(several) => check.any(several, value)?,
                    _ => false,
                };
                let path = self.path.clone();
                self.out.push(Leaf { node, rule, path, value, fits_several });
            }
            if !go_on || self.out.len() >= LOOKED_AT || rule.says_all() {
                break;
            }
        }
        Ok(self.out.len() < LOOKED_AT)
    }
}

/// The problems of an input. Missing fields first: they explain most others.
pub(super) fn input(schema: &Value, leaves: &[Leaf<'_>]) -> String {
    let mut told: Vec<(u8, String)> = leaves
        .iter()
        .map(|leaf| {
            let rank = match leaf.rule {
                Rule::Required(_) => 0,
                Rule::Members(_) => 1,
                _ => 2,
            };
            (rank, one(schema, leaf))
        })
        .collect();
    told.sort_by_key(|(rank, _)| *rank);
    told.dedup();
    let more = told.len().saturating_sub(TOLD);
    let mut text = told.into_iter().take(TOLD).map(|(_, text)| text).collect::<Vec<_>>().join("; ");
    if more > 0 {
        let _ = write!(text, "; and {more} more");
    }
    text
}

/// The first thing that is wrong with a value, in words of the schema only.
pub(super) fn output(leaves: &[Leaf<'_>]) -> String {
    let Some(leaf) = leaves.first() else { return "a value is not of its schema".to_owned() };
    let place = quote(&clip(&format!("#{}", leaf.node.place), 200));
    let what = match leaf.rule {
        Rule::Required(names) => {
            format!("required field {} is missing", name_list(missing(names, leaf.value)))
        }
        Rule::Members(_) => "an object has a field that is not declared".to_owned(),
        Rule::Type(kinds) => format!("expected {kinds}"),
        Rule::Enum(_) | Rule::Const(_) => "a value is none of those allowed".to_owned(),
        Rule::Any(_) | Rule::One(_) => "a value fits no alternative, or too many".to_owned(),
        _ => "a value is out of its bounds".to_owned(),
    };
    format!("{what} (schema at {place})")
}

fn one(schema: &Value, leaf: &Leaf<'_>) -> String {
    let path = path_of(&leaf.path);
    let field = if path.is_empty() { "the input".to_owned() } else { quote(&path) };
    let within = if path.is_empty() { String::new() } else { format!(" in {field}") };
    match leaf.rule {
        Rule::Required(names) => {
            let strange = undeclared(leaf);
            let got = if strange.is_empty() {
                strange
            } else {
                format!(" (there is no field {strange})")
            };
            let missing = name_list(missing(names, leaf.value));
            format!("missing required field {missing}{within}{got}")
        }
        Rule::Members(members) => {
            let known = declared(schema, leaf);
            let known = known.map(|names| format!("; known fields: {names}")).unwrap_or_default();
            let got = leaf.value.as_object().into_iter().flat_map(|o| members.undeclared(o));
            format!("unknown field {}{within}{known}", name_list(got))
        }
        Rule::Type(kinds) => format!("{field} must be {kinds}, got {}", kind_of(leaf.value)),
        Rule::One(_) if leaf.fits_several => format!("{field} fits more than one alternative"),
        Rule::Enum(_) | Rule::Const(_) | Rule::Any(_) | Rule::One(_) => {
            match holder(schema, leaf).and_then(|at| input_type(schema, at, TYPE_CHARS)) {
                Some(kind) => format!("{field} must be {kind}, got {}", shown(leaf.value)),
                None => format!("{field} is none of what is allowed there"),
            }
        }
        Rule::Bound(bound, limit) => {
            let word = match bound {
                Bound::Minimum => "at least",
                Bound::Maximum => "at most",
                Bound::Above => "more than",
                Bound::Below => "less than",
            };
            format!("{field} must be {word} {limit}")
        }
        Rule::MultipleOf(of) => format!("{field} must be a multiple of {of}"),
        Rule::Size(kind, limit) => {
            let (word, what) = match kind {
                Size::MinLength => ("least", "characters"),
                Size::MaxLength => ("most", "characters"),
                Size::MinItems => ("least", "items"),
                Size::MaxItems => ("most", "items"),
                Size::MinProperties => ("least", "fields"),
                Size::MaxProperties => ("most", "fields"),
            };
            format!("{field} must have at {word} {limit} {what}")
        }
        Rule::Unique => format!("{field} must have no item twice"),
        Rule::Pattern(_, text) => format!("{field} must match {}", quote(&clip(text, 100))),
        Rule::Never => format!("{field} is not allowed"),
        Rule::DependentRequired(lists) => {
            let has = |name: &str| leaf.value.get(name).is_some();
            let lacks = |(name, needs): &&(String, Vec<String>)| {
                has(name) && !needs.iter().all(|need| has(need))
            };
            let Some((with, needs)) = lists.iter().find(lacks) else {
                return format!("{field} breaks a rule of the schema");
            };
            let with = quote(&clip(with, 60));
            let missing = name_list(missing(needs, leaf.value));
            format!("missing field {missing}{within}, needed with {with}")
        }
        _ => format!("{field} breaks a rule of the schema"),
    }
}

fn missing<'a>(names: &'a [String], value: &'a Value) -> impl Iterator<Item = &'a String> {
    names.iter().filter(|name| value.get(name.as_str()).is_none())
}

/// `a.b[0]["c d"]`.
fn path_of(tokens: &[Token<'_>]) -> String {
    let mut out = String::new();
    for token in tokens {
        match token {
            Token::Item(i) => {
                let _ = write!(out, "[{i}]");
            }
            Token::Key(name) => {
                let name = clip(name, 60);
                if property_name(&name).starts_with('"') {
                    let _ = write!(out, "[{}]", quote(&name));
                } else {
                    if !out.is_empty() {
                        out.push('.');
                    }
                    out.push_str(&name);
                }
            }
        }
    }
    clip(&out, 200)
}

/// Some names, and how many more there are.
fn name_list<'n>(names: impl Iterator<Item = &'n String>) -> String {
    let (mut out, mut more) = (Vec::new(), 0);
    for name in names {
        if out.len() < NAMES {
            out.push(quote(&clip(name, 60)));
        } else {
            more += 1;
        }
    }
    if more > 0 {
        out.push(format!("{more} more"));
    }
    out.join(", ")
}

/// The schema that does not hold.
fn holder<'s>(schema: &'s Value, leaf: &Leaf<'_>) -> Option<&'s Value> {
    schema.pointer(&leaf.node.place)
}

/// Names that the schema declares where the error is.
fn declared(schema: &Value, leaf: &Leaf<'_>) -> Option<String> {
    let properties = holder(schema, leaf)?.get("properties")?.as_object()?;
    (!properties.is_empty()).then(|| name_list(properties.keys()))
}

/// Fields that were given and that the schema does not know: likely the missing one, misspelt.
fn undeclared(leaf: &Leaf<'_>) -> String {
    let members = leaf.node.rules.iter().find_map(|rule| match rule {
        Rule::Members(members) if !members.declared.is_empty() => Some(members),
        _ => None,
    });
    let (Some(members), Some(object)) = (members, leaf.value.as_object()) else {
        return String::new();
    };
    let strange = object.keys().filter(|name| !members.declared.contains_key(*name));
    name_list(strange.take(NAMES))
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// A short text or number itself: a wrong spelling is easier to see than to be told of.
fn shown(value: &Value) -> String {
    match value {
        Value::String(s) if s.chars().count() <= 60 => quote(s),
        Value::Number(n) => n.to_string(),
        other => kind_of(other).to_owned(),
    }
}
