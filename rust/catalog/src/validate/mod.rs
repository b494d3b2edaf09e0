//! Arguments and declared outputs against their schemas.
//!
//! The work of a check is in proportion to the size of the value and the schema; what would take
//! far more than values of its size do is refused. Nothing is ever fetched. Patterns run in linear time; those that cannot (look-around, back
//! references) or are very large are not checked. Formats are annotations.

mod check;
mod coerce;
mod compile;
mod equal;
mod evaluated;
mod explain;
mod program;
mod references;
mod rules;
mod stack;

use serde_json::Value;

pub use coerce::Step;

use check::{Check, Stop};
use explain::Leaf;
use program::Program;

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
    compiled: Option<Program>,
}

impl Validator {
    /// Compiles a declared output.
    ///
    /// # Errors
    /// A text that says what is wrong with the schema: it is no schema, or refers to something
    /// that is not in it.
    pub fn for_output(schema: Value) -> Result<Self, String> {
        let compiled = Some(compile::strict(&schema)?);
        Ok(Self { schema, compiled })
    }

    /// Compiles the schema of an input. A reference that leads nowhere allows anything; a schema
    /// that cannot be compiled, or is of something else than an object, lets everything pass.
    pub fn for_input(schema: Value) -> Self {
        if !coerce::wants_object(&schema) {
            return Self { schema, compiled: None };
        }
        let compiled = compile::lenient(&schema);
        Self { schema, compiled }
    }

    /// Where in an input a text stands for the array or object that the schema wants there, or a
    /// floating-point number for an integer, in the order in which they are to be replaced: an
    /// outer one before those inside it.
    ///
    /// Texts are replaced in `input`; those where the schema allows a string are never touched.
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
        problem_of(compiled, input, |leaves| explain::input(&self.schema, leaves))
    }

    /// Checks the value of a tool against its declared output.
    ///
    /// # Errors
    /// Says which part of the schema does not hold, and nothing of the value.
    pub fn check_output(&self, value: &Value) -> Result<(), Problem> {
        let Some(compiled) = &self.compiled else { return Ok(()) };
        problem_of(compiled, value, explain::output)
    }
}

/// Checks a value; `explain` puts what is wrong into words.
fn problem_of(
    program: &Program,
    value: &Value,
    explain: impl Fn(&[Leaf<'_>]) -> String + Sync,
) -> Result<(), Problem> {
    let check = |depth| match Check::new(program, value, depth).valid(0, value) {
        Ok(true) => Ok(None),
        Ok(false) => Ok(Some(explain(&explain::leaves(program, value, depth)))),
        Err(stop) => Err(stop),
    };
    let answer = match check(stack::SHALLOW) {
        Err(Stop::Depth) => stack::roomy(|| check(stack::DEEP)).unwrap_or(Err(Stop::Depth)),
        answer => answer,
    };
    match answer {
        Ok(None) => Ok(()),
        Ok(Some(text)) => Err(Problem(text)),
        Err(Stop::Depth) => Err(Problem("it is nested too deep to be checked".to_owned())),
        Err(Stop::Work) => Err(Problem("it takes too long to be checked; send less".to_owned())),
    }
}
