//! What a model, or a tool's author, needs to know to get it right the next time.

use std::fmt::Write as _;

use boon::{ErrorKind as Kind, InstanceToken, Type, ValidationError};
use serde_json::Value;

use crate::schema::facets::lookup;
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

/// The problems of an input. Missing fields first: they explain most others.
pub(super) fn input(schema: &Value, input: &Value, error: &ValidationError<'_, '_>) -> String {
    let mut told: Vec<(u8, String)> = leaves(error)
        .into_iter()
        .map(|error| {
            let rank = match error.kind {
                Kind::Required { .. } => 0,
                Kind::AdditionalProperties { .. } => 1,
                _ => 2,
            };
            (rank, one(schema, input, error))
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
pub(super) fn output(error: &ValidationError<'_, '_>) -> String {
    let leaves = leaves(error);
    let error = leaves.first().copied().unwrap_or(error);
    let place = quote(&clip(&format!("#{}", pointer(error)), 200));
    let what = match &error.kind {
        Kind::Required { want } => format!("required field {} is missing", name_list(want)),
        Kind::AdditionalProperties { .. } => {
            "an object has a field that is not declared".to_owned()
        }
        Kind::Type { want, .. } => format!("expected {}", types(*want)),
        Kind::Enum { .. } | Kind::Const { .. } => "a value is none of those allowed".to_owned(),
        Kind::AnyOf | Kind::OneOf(_) => "a value fits no alternative, or too many".to_owned(),
        _ => "a value is out of its bounds".to_owned(),
    };
    format!("{what} (schema at {place})")
}

/// The errors that say what is wrong; alternatives count as one.
fn leaves<'e, 's, 'v>(error: &'e ValidationError<'s, 'v>) -> Vec<&'e ValidationError<'s, 'v>> {
    let mut out = Vec::new();
    let mut todo = vec![error];
    while let Some(error) = todo.pop() {
        let through = matches!(
            error.kind,
            Kind::Group | Kind::Schema { .. } | Kind::Reference { .. } | Kind::AllOf
        );
        if through && !error.causes.is_empty() {
            todo.extend(error.causes.iter().rev());
        } else {
            out.push(error);
            if out.len() == LOOKED_AT {
                break;
            }
        }
    }
    out
}

fn one(schema: &Value, input: &Value, error: &ValidationError<'_, '_>) -> String {
    let path = path_of(&error.instance_location.tokens);
    let field = if path.is_empty() { "the input".to_owned() } else { quote(&path) };
    let within = if path.is_empty() { String::new() } else { format!(" in {field}") };
    match &error.kind {
        Kind::Required { want } => {
            let strange = undeclared(schema, input, error);
            let got = if strange.is_empty() {
                String::new()
            } else {
                format!(" (there is no field {})", strange.join(", "))
            };
            format!("missing required field {}{within}{got}", name_list(want))
        }
        Kind::AdditionalProperties { got } => {
            let known = declared(schema, error);
            let known = if known.is_empty() {
                String::new()
            } else {
                format!("; known fields: {}", known.join(", "))
            };
            format!("unknown field {}{within}{known}", name_list(got))
        }
        Kind::Type { got, want } => format!("{field} must be {}, got {got}", types(*want)),
        Kind::Enum { .. } | Kind::Const { .. } | Kind::AnyOf | Kind::OneOf(None) => {
            match holder(schema, error).and_then(|at| input_type(schema, at, TYPE_CHARS)) {
                Some(kind) => match at(input, &error.instance_location.tokens) {
                    Some(got) => format!("{field} must be {kind}, got {}", shown(got)),
                    None => format!("{field} must be {kind}"),
                },
                None => format!("{field} is none of what is allowed there"),
            }
        }
        Kind::OneOf(Some(_)) => format!("{field} fits more than one alternative"),
        Kind::Minimum { want, .. } => format!("{field} must be at least {want}"),
        Kind::Maximum { want, .. } => format!("{field} must be at most {want}"),
        Kind::ExclusiveMinimum { want, .. } => format!("{field} must be more than {want}"),
        Kind::ExclusiveMaximum { want, .. } => format!("{field} must be less than {want}"),
        Kind::MultipleOf { want, .. } => format!("{field} must be a multiple of {want}"),
        Kind::MinLength { want, .. } => format!("{field} must have at least {want} characters"),
        Kind::MaxLength { want, .. } => format!("{field} must have at most {want} characters"),
        Kind::MinItems { want, .. } => format!("{field} must have at least {want} items"),
        Kind::MaxItems { want, .. } => format!("{field} must have at most {want} items"),
        Kind::MinProperties { want, .. } => format!("{field} must have at least {want} fields"),
        Kind::MaxProperties { want, .. } => format!("{field} must have at most {want} fields"),
        Kind::UniqueItems { .. } => format!("{field} must have no item twice"),
        Kind::Pattern { want, .. } => format!("{field} must match {}", quote(&clip(want, 100))),
        Kind::FalseSchema => format!("{field} is not allowed"),
        Kind::Dependency { prop, missing } | Kind::DependentRequired { prop, missing } => {
            let with = quote(&clip(prop, 60));
            format!("missing field {}{within}, needed with {with}", name_list(missing))
        }
        _ => format!("{field} breaks a rule of the schema"),
    }
}

/// `a.b[0]["c d"]`.
fn path_of(tokens: &[InstanceToken<'_>]) -> String {
    let mut out = String::new();
    for token in tokens {
        match token {
            InstanceToken::Item(i) => {
                let _ = write!(out, "[{i}]");
            }
            InstanceToken::Prop(name) => {
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

fn at<'i>(input: &'i Value, tokens: &[InstanceToken<'_>]) -> Option<&'i Value> {
    tokens.iter().try_fold(input, |value, token| match token {
        InstanceToken::Item(i) => value.get(i),
        InstanceToken::Prop(name) => value.get(name.as_ref()),
    })
}

fn name_list<S: AsRef<str>>(names: &[S]) -> String {
    let mut out: Vec<String> =
        names.iter().take(NAMES).map(|name| quote(&clip(name.as_ref(), 60))).collect();
    if names.len() > NAMES {
        out.push(format!("{} more", names.len() - NAMES));
    }
    out.join(", ")
}

/// Where in the schema document the error is.
fn pointer<'e>(error: &'e ValidationError<'_, '_>) -> &'e str {
    error.schema_url.split_once('#').map_or("", |(_, pointer)| pointer)
}

/// The schema that does not hold.
fn holder<'s>(schema: &'s Value, error: &ValidationError<'_, '_>) -> Option<&'s Value> {
    lookup(schema, &format!("#{}", pointer(error)))
}

/// Names that the schema declares where the error is.
fn declared(schema: &Value, error: &ValidationError<'_, '_>) -> Vec<String> {
    let Some(Value::Object(properties)) =
        holder(schema, error).and_then(|holder| holder.get("properties"))
    else {
        return Vec::new();
    };
    let mut names: Vec<String> =
        properties.keys().take(NAMES).map(|name| quote(&clip(name, 60))).collect();
    if properties.len() > NAMES {
        names.push(format!("{} more", properties.len() - NAMES));
    }
    names
}

/// Fields that were given and that the schema does not know: likely the missing one, misspelt.
fn undeclared(schema: &Value, input: &Value, error: &ValidationError<'_, '_>) -> Vec<String> {
    let given = at(input, &error.instance_location.tokens).and_then(Value::as_object);
    let known = holder(schema, error).and_then(|h| h.get("properties")).and_then(Value::as_object);
    let (Some(given), Some(known)) = (given, known) else { return Vec::new() };
    given
        .keys()
        .filter(|name| !known.contains_key(name.as_str()))
        .take(NAMES)
        .map(|name| quote(&clip(name, 60)))
        .collect()
}

fn types(types: boon::Types) -> String {
    types.iter().map(|kind: Type| kind.to_string()).collect::<Vec<_>>().join(" or ")
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
