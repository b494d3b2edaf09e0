//! What a model, or a tool's author, needs to know to get it right the next time.

use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use jsonschema::{JsonType, ValidationError};
use serde_json::Value;

use crate::schema::facets::lookup;
use crate::schema::input_type;
use crate::text::{clip, comment_line, property_name, quote};

/// Errors of one value that are looked at to find the most telling ones.
pub(super) const LOOKED_AT: usize = 32;
/// Errors that are told.
const TOLD: usize = 3;
/// Names that are listed at most.
const NAMES: usize = 5;
/// Characters of an expected type.
const TYPE_CHARS: usize = 200;

/// Why a schema cannot be compiled.
pub(super) fn schema(error: &ValidationError<'_>) -> String {
    let at = error.instance_path().as_str();
    let text = clip(&comment_line(&error.to_string(), 400), 300);
    if at.is_empty() { text } else { format!("{text} (at {})", clip(at, 120)) }
}

/// An input that is no object at all.
pub(super) fn not_an_object(input: &Value) -> String {
    format!("the input must be one object, got {}", kind_of(input))
}

/// The problems of an input. Missing fields first: they explain most others.
pub(super) fn input<'i>(
    schema: &Value,
    input: &Value,
    errors: impl Iterator<Item = ValidationError<'i>>,
) -> String {
    let mut told: Vec<(u8, String)> = errors
        .map(|error| {
            let rank = match error.kind() {
                Kind::Required { .. } => 0,
                Kind::AdditionalProperties { .. } => 1,
                _ => 2,
            };
            (rank, one(schema, input, &error))
        })
        .collect();
    told.sort_by_key(|(rank, _)| *rank);
    told.dedup();
    let more = told.len().saturating_sub(TOLD);
    let mut text = told.into_iter().take(TOLD).map(|(_, text)| text).collect::<Vec<_>>().join("; ");
    if more > 0 {
        text.push_str(&format!("; and {more} more"));
    }
    text
}

/// The first thing that is wrong with a value, in words of the schema only.
pub(super) fn output(error: &ValidationError<'_>) -> String {
    let place = clip(error.schema_path().as_str(), 200);
    let what = match error.kind() {
        Kind::Required { property } => format!("required field {} is missing", name_of(property)),
        Kind::AdditionalProperties { .. } | Kind::UnevaluatedProperties { .. } => {
            "an object has a field that is not declared".to_owned()
        }
        Kind::Type { kind } => format!("expected {}", types(kind)),
        Kind::BacktrackLimitExceeded { .. } | Kind::RegexEngineFailure { .. } => {
            "a pattern could not be checked".to_owned()
        }
        other => format!("{} does not hold", quote(&clip(other.keyword(), 40))),
    };
    format!("{what} (schema at {})", quote(&format!("#{place}")))
}

fn one(schema: &Value, input: &Value, error: &ValidationError<'_>) -> String {
    let path = path_of(error.instance_path().segments());
    let field = if path.is_empty() { "the input".to_owned() } else { quote(&path) };
    let within = if path.is_empty() { String::new() } else { format!(" in {field}") };
    match error.kind() {
        Kind::Required { property } => {
            let missing = name_of(property);
            let strange = undeclared(schema, input, error);
            let got = if strange.is_empty() {
                String::new()
            } else {
                format!(" (there is no field {})", strange.join(", "))
            };
            format!("missing required field {missing}{within}{got}")
        }
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            let mut names: Vec<String> =
                unexpected.iter().take(NAMES).map(|n| quote(&clip(n, 60))).collect();
            if unexpected.len() > NAMES {
                names.push(format!("{} more", unexpected.len() - NAMES));
            }
            let known = declared(schema, error);
            let known = if known.is_empty() {
                String::new()
            } else {
                format!("; known fields: {}", known.join(", "))
            };
            format!("unknown field {}{within}{known}", names.join(", "))
        }
        Kind::Type { kind } => {
            format!("{field} must be {}, got {}", types(kind), kind_of(error.instance()))
        }
        Kind::Enum { .. }
        | Kind::Constant { .. }
        | Kind::AnyOf { .. }
        | Kind::OneOfNotValid { .. } => match expected_at(schema, error) {
            Some(kind) => format!("{field} must be {kind}, got {}", shown(error.instance())),
            None => format!("{field} is none of what is allowed there"),
        },
        Kind::Minimum { limit } => format!("{field} must be at least {limit}"),
        Kind::Maximum { limit } => format!("{field} must be at most {limit}"),
        Kind::ExclusiveMinimum { limit } => format!("{field} must be more than {limit}"),
        Kind::ExclusiveMaximum { limit } => format!("{field} must be less than {limit}"),
        Kind::MultipleOf { multiple_of } => format!("{field} must be a multiple of {multiple_of}"),
        Kind::MinLength { limit } => format!("{field} must have at least {limit} characters"),
        Kind::MaxLength { limit } => format!("{field} must have at most {limit} characters"),
        Kind::MinItems { limit } => format!("{field} must have at least {limit} items"),
        Kind::MaxItems { limit } => format!("{field} must have at most {limit} items"),
        Kind::MinProperties { limit } => format!("{field} must have at least {limit} fields"),
        Kind::MaxProperties { limit } => format!("{field} must have at most {limit} fields"),
        Kind::UniqueItems => format!("{field} must have no item twice"),
        Kind::Pattern { pattern } => format!("{field} must match {}", quote(&clip(pattern, 100))),
        Kind::FalseSchema => format!("{field} is not allowed"),
        Kind::BacktrackLimitExceeded { .. } | Kind::RegexEngineFailure { .. } => {
            format!("{field} could not be checked against its pattern")
        }
        other => format!("{field} breaks the rule {}", quote(&clip(other.keyword(), 40))),
    }
}

/// `a.b[0]["c d"]`.
fn path_of<'s>(segments: impl Iterator<Item = jsonschema::paths::LocationSegment<'s>>) -> String {
    use jsonschema::paths::LocationSegment;
    let mut out = String::new();
    for segment in segments {
        match segment {
            LocationSegment::Index(i) => out.push_str(&format!("[{i}]")),
            LocationSegment::Property(name) => {
                let name = clip(&name, 60);
                if property_name(&name).starts_with('"') {
                    out.push_str(&format!("[{}]", quote(&name)));
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

fn name_of(property: &Value) -> String {
    quote(&clip(property.as_str().unwrap_or("?"), 60))
}

/// The schema object that holds the keyword of an error.
fn holder<'s>(schema: &'s Value, error: &ValidationError<'_>) -> Option<&'s Value> {
    let (parent, _) = error.schema_path().as_str().rsplit_once('/')?;
    lookup(schema, &format!("#{parent}"))
}

/// What is expected where the error is, as a type.
fn expected_at(schema: &Value, error: &ValidationError<'_>) -> Option<String> {
    input_type(schema, holder(schema, error)?, TYPE_CHARS)
}

/// Names that the schema declares where the error is.
fn declared(schema: &Value, error: &ValidationError<'_>) -> Vec<String> {
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
fn undeclared(schema: &Value, input: &Value, error: &ValidationError<'_>) -> Vec<String> {
    let given = input.pointer(error.instance_path().as_str()).and_then(Value::as_object);
    let known = holder(schema, error).and_then(|h| h.get("properties")).and_then(Value::as_object);
    let (Some(given), Some(known)) = (given, known) else { return Vec::new() };
    given
        .keys()
        .filter(|name| !known.contains_key(name.as_str()))
        .take(NAMES)
        .map(|name| quote(&clip(name, 60)))
        .collect()
}

fn types(kind: &TypeKind) -> String {
    let name = |t: JsonType| t.as_str().to_owned();
    match kind {
        TypeKind::Single(one) => name(*one),
        TypeKind::Multiple(set) => set.iter().map(name).collect::<Vec<_>>().join(" or "),
    }
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
