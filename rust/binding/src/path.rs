//! Why a value cannot cross, and where in it the culprit is.
//!
//! Messages hold paths and type names, never values: those may be secrets.

use std::fmt::{self, Display, Formatter};

use pyo3::exceptions::{PyException, PyTypeError, PyValueError};
use pyo3::prelude::*;

/// From a value to one that it holds.
#[derive(Debug)]
pub(crate) enum Step {
    Key(String),
    Index(usize),
}

impl Display for Step {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        const LONGEST: usize = 40;
        match self {
            Self::Index(i) => write!(f, "[{i}]"),
            Self::Key(key) if is_name(key) && key.len() <= LONGEST => write!(f, ".{key}"),
            Self::Key(key) => {
                let cut: String = key.chars().take(LONGEST).collect();
                let more = if cut.len() < key.len() { "…" } else { "" };
                write!(f, "[{:?}]", cut + more)
            }
        }
    }
}

#[derive(Debug)]
enum Kind {
    /// `TypeError`.
    Type,
    /// `ValueError`.
    Value,
    /// Something a message and a path do not help with, `KeyboardInterrupt` for example.
    Raised,
}

#[derive(Debug)]
struct Inner {
    kind: Kind,
    message: String,
    cause: Option<PyErr>,
    /// Innermost first: filled on the way out, so that a value that crosses pays nothing.
    steps: Vec<Step>,
}

/// A refusal; boxed because results of this type are returned for every value.
#[derive(Debug)]
pub(crate) struct Refused(Box<Inner>);

impl From<PyErr> for Refused {
    fn from(e: PyErr) -> Self {
        Self(Box::new(Inner {
            kind: Kind::Raised,
            message: String::new(),
            cause: Some(e),
            steps: Vec::new(),
        }))
    }
}

impl Refused {
    fn new(kind: Kind, message: String) -> Self {
        Self(Box::new(Inner { kind, message, cause: None, steps: Vec::new() }))
    }

    /// Has no JSON form.
    pub(crate) fn type_(message: String) -> Self {
        Self::new(Kind::Type, message)
    }

    /// Has a JSON form, but this one cannot cross.
    pub(crate) fn value(message: String) -> Self {
        Self::new(Kind::Value, message)
    }

    /// Over the limit of bytes.
    pub(crate) fn size(bytes: usize, max: usize) -> Self {
        Self::value(format!("the value takes at least {bytes} bytes, the limit is {max}"))
    }

    /// Nested too deep.
    pub(crate) fn depth(max: usize) -> Self {
        Self::value(format!("nested deeper than {max} levels"))
    }

    /// Holds itself.
    pub(crate) fn cycle(container: &Bound<'_, PyAny>) -> Self {
        Self::value(format!("this {} contains itself", type_name(container)))
    }

    /// Was changed by a method of something in it.
    pub(crate) fn changed() -> Self {
        Self::value("changed while it was read".into())
    }

    /// `what` of `object` raised `error`.
    pub(crate) fn raised(object: &Bound<'_, PyAny>, what: &str, error: PyErr) -> Self {
        let py = object.py();
        if !error.is_instance_of::<PyException>(py) {
            return error.into();
        }
        let raised =
            error.get_type(py).name().map_or_else(|_| "an exception".into(), |n| n.to_string());
        let mut refused =
            Self::type_(format!("{what} of a {} object raised {raised}", type_name(object)));
        refused.0.cause = Some(error);
        refused
    }

    /// The same, seen from one level further out.
    #[cold]
    pub(crate) fn under(mut self, step: impl FnOnce() -> Step) -> Self {
        self.0.steps.push(step());
        self
    }

    /// The exception to raise.
    pub(crate) fn into_py(self, py: Python<'_>) -> PyErr {
        let Inner { kind, message, cause, steps } = *self.0;
        let text = format!("{}: {message}", render(&steps));
        let error = match (kind, cause) {
            (Kind::Raised, Some(raised)) => return raised,
            (Kind::Type, cause) => (PyTypeError::new_err(text), cause),
            (_, cause) => (PyValueError::new_err(text), cause),
        };
        error.0.set_cause(py, error.1);
        error.0
    }
}

/// Name of the type of `v`.
pub(crate) fn type_name(v: &Bound<'_, PyAny>) -> String {
    v.get_type().name().map_or_else(|_| "?".into(), |n| n.to_string())
}

/// `$.rows[3].when`; the middle of long paths and the ends of long keys are left out.
fn render(steps: &[Step]) -> String {
    const ENDS: usize = 8;
    let outermost_first: Vec<String> = steps.iter().rev().map(Step::to_string).collect();
    let n = outermost_first.len();
    if n <= 2 * ENDS + 1 {
        return format!("${}", outermost_first.concat());
    }
    let (head, tail) = (&outermost_first[..ENDS], &outermost_first[n - ENDS..]);
    format!("${} …{} levels… {}", head.concat(), n - 2 * ENDS, tail.concat())
}

fn is_name(key: &str) -> bool {
    !key.is_empty()
        && !key.starts_with(|c: char| c.is_ascii_digit())
        && key.chars().all(|c| c.is_alphanumeric() || c == '_')
}
