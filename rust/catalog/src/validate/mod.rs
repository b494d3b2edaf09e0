//! Arguments and declared outputs against their schemas.
//!
//! Nothing is ever fetched. Patterns run in linear time; those that need more (look-around) have
//! a bounded number of steps. Formats are annotations.

mod coerce;
mod explain;

use jsonschema::PatternOptions;
use serde_json::Value;

pub use coerce::Step;

use crate::schema::facets::lookup;

/// Bytes that one compiled pattern may take.
const PATTERN_BYTES: usize = 1 << 20;
/// Steps back of one match of a pattern that is not regular.
const PATTERN_STEPS: usize = 10_000;

/// Why a value does not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem(String);

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Problem {}

/// A compiled schema.
#[derive(Debug)]
pub struct Validator {
    schema: Value,
    /// `None`: a schema that says nothing that can be checked; everything passes.
    compiled: Option<jsonschema::Validator>,
}

impl Validator {
    /// Compiles a declared output.
    ///
    /// # Errors
    /// A text that says what is wrong with the schema: it is no schema, or refers to something
    /// that is not in it.
    pub fn for_output(schema: Value) -> Result<Self, String> {
        let compiled = Some(compile(&schema)?);
        Ok(Self { schema, compiled })
    }

    /// Compiles the schema of an input. A reference that leads nowhere allows anything; a schema
    /// that cannot be compiled, or is of something else than an object, lets everything pass.
    pub fn for_input(schema: Value) -> Self {
        if !coerce::wants_object(&schema) {
            return Self { schema, compiled: None };
        }
        let compiled = compile(&schema).or_else(|_| compile(&without_lost_references(&schema)));
        Self { schema, compiled: compiled.ok() }
    }

    /// Where in an input a text stands for the array or object that the schema wants there, in
    /// the order in which they are to be replaced: an outer one before those inside it.
    ///
    /// `input` is changed accordingly. Texts where the schema allows a string are never touched.
    pub fn coerce(&self, input: &mut Value) -> Vec<Vec<Step>> {
        if self.compiled.is_none() {
            return Vec::new();
        }
        coerce::coerce(&self.schema, input)
    }

    /// Checks the input of a tool, after [`Validator::coerce`].
    ///
    /// # Errors
    /// Names the missing or wrong field and what is expected there.
    pub fn check_input(&self, input: &Value) -> Result<(), Problem> {
        let Some(compiled) = &self.compiled else { return Ok(()) };
        if !input.is_object() && coerce::wants_object(&self.schema) {
            return Err(Problem(explain::not_an_object(input)));
        }
        let mut errors = compiled.iter_errors(input).take(explain::LOOKED_AT).peekable();
        if errors.peek().is_none() {
            return Ok(());
        }
        Err(Problem(explain::input(&self.schema, input, errors)))
    }

    /// Checks the value of a tool against its declared output.
    ///
    /// # Errors
    /// Says which part of the schema does not hold, and nothing of the value.
    pub fn check_output(&self, value: &Value) -> Result<(), Problem> {
        let Some(compiled) = &self.compiled else { return Ok(()) };
        match compiled.validate(value) {
            Ok(()) => Ok(()),
            Err(error) => Err(Problem(explain::output(&error))),
        }
    }
}

fn compile(schema: &Value) -> Result<jsonschema::Validator, String> {
    let linear = PatternOptions::regex().size_limit(PATTERN_BYTES).dfa_size_limit(PATTERN_BYTES);
    let stepped = PatternOptions::fancy_regex()
        .backtrack_limit(PATTERN_STEPS)
        .size_limit(PATTERN_BYTES)
        .dfa_size_limit(PATTERN_BYTES);
    let options = jsonschema::options().offline().should_validate_formats(false);
    match options.clone().with_pattern_options(linear).build(schema) {
        Ok(validator) => Ok(validator),
        Err(first) => {
            options.with_pattern_options(stepped).build(schema).map_err(|_| explain::schema(&first))
        }
    }
}

/// A copy in which references that lead out of the document, or nowhere in it, are gone.
fn without_lost_references(schema: &Value) -> Value {
    fn walk(root: &Value, node: &mut Value) {
        match node {
            Value::Array(items) => items.iter_mut().for_each(|item| walk(root, item)),
            Value::Object(members) => {
                let lost = members
                    .get("$ref")
                    .is_some_and(|r| r.as_str().is_none_or(|r| lookup(root, r).is_none()));
                if lost {
                    members.shift_remove("$ref");
                }
                members.values_mut().for_each(|member| walk(root, member));
            }
            _ => {}
        }
    }
    let mut copy = schema.clone();
    walk(schema, &mut copy);
    copy
}
