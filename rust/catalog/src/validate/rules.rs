//! What a schema demands of a value, rule by rule.

use std::fmt;

use regex::Regex;
use rustc_hash::FxHashMap;
use serde_json::Value;

use crate::schema::facets::Types;

/// A schema: rules that must all hold.
#[derive(Debug, Default)]
pub(super) struct Node {
    /// JSON pointer to it in the document.
    pub(super) place: String,
    /// `nullable: true`: null passes, whatever else is said.
    pub(super) nullable: bool,
    /// More than one way leads to it: answers are remembered. Only such nodes can form cycles,
    /// and only through them can the work be more than one visit of a node for each value.
    pub(super) shared: bool,
    /// Whether other nodes apply to the same value.
    pub(super) chains: bool,
    /// The cheap ones first.
    pub(super) rules: Vec<Rule>,
}

/// Index of a node.
pub(super) type At = usize;

/// One thing that a schema demands, ordered as they are checked.
#[derive(Debug)]
pub(super) enum Rule {
    Never,
    Type(Kinds),
    Const(Value),
    Enum(Vec<Value>),
    Bound(Bound, f64),
    MultipleOf(Value),
    Size(Size, usize),
    Pattern(Regex, String),
    Required(Vec<String>),
    DependentRequired(Vec<(String, Vec<String>)>),
    /// `$ref`, `allOf`, and alternatives of which there is only one.
    All(Vec<At>),
    Members(Members),
    /// Items by position, then all others.
    Items(Vec<At>, Option<At>),
    Contains(At, usize, usize),
    Names(At),
    DependentSchemas(Vec<(String, At)>),
    Unique,
    Not(At),
    Any(Vec<At>),
    One(Vec<At>),
    If(At, Option<At>, Option<At>),
    /// The node that says so, and what it says of those that nothing else there speaks of.
    UnevaluatedProperties(At, At),
    UnevaluatedItems(At, At),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bound {
    Minimum,
    Maximum,
    Above,
    Below,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Size {
    MinLength,
    MaxLength,
    MinItems,
    MaxItems,
    MinProperties,
    MaxProperties,
}

/// Types as schemas name them; an integer is a number without a fraction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kinds {
    pub(super) types: Types,
    pub(super) integer: bool,
}

/// What is said of an object's members.
#[derive(Debug, Default)]
pub(super) struct Members {
    pub(super) declared: FxHashMap<String, At>,
    /// Those that must be certain values: they tell alternatives apart, so they are looked at
    /// before anything is descended into.
    pub(super) telling: Vec<(String, At)>,
    pub(super) patterns: Vec<(Regex, At)>,
    pub(super) rest: Option<At>,
    /// Whether there can be no others.
    pub(super) closed: bool,
    /// Whether it is said that others may be anything.
    pub(super) open: bool,
}

impl Rule {
    /// The order in which rules are checked: cheap ones first.
    pub(super) fn rank(&self) -> u8 {
        match self {
            Self::Never => 0,
            Self::Type(_) => 1,
            Self::Const(_) | Self::Enum(_) => 2,
            Self::Bound(..) | Self::MultipleOf(_) | Self::Size(..) => 3,
            Self::Required(_) | Self::DependentRequired(_) => 4,
            Self::Pattern(..) => 5,
            Self::All(_) => 6,
            Self::Members(_) | Self::Items(..) => 7,
            Self::Contains(..) | Self::Names(_) | Self::DependentSchemas(_) | Self::Unique => 8,
            Self::Not(_) | Self::Any(_) | Self::One(_) | Self::If(..) => 9,
            Self::UnevaluatedProperties(..) | Self::UnevaluatedItems(..) => 10,
        }
    }

    /// Whether, once it does not hold, nothing else is worth telling.
    pub(super) fn says_all(&self) -> bool {
        matches!(self, Self::Never | Self::Type(_) | Self::Const(_) | Self::Enum(_))
    }

    /// Whether it applies other schemas to the same value.
    pub(super) fn chains(&self) -> bool {
        use Rule::{All, Any, DependentSchemas, If, Not, One};
        matches!(self, All(_) | Any(_) | One(_) | Not(_) | If(..) | DependentSchemas(_))
    }
}

impl Kinds {
    /// What the keyword `type` names.
    pub(super) fn named(said: &Value) -> Self {
        let names = match said {
            Value::Array(names) => names.as_slice(),
            one => std::slice::from_ref(one),
        };
        let has = |name: &str| names.iter().any(|n| n == name);
        let mut types = Types::NONE;
        for (name, kind) in NAMES {
            if name != "integer" && has(name) {
                types = types.or(kind);
            }
        }
        Self { types, integer: has("integer") }
    }

    pub(super) fn have(self, value: &Value) -> bool {
        let is_whole =
            |v: &Value| v.is_i64() || v.is_u64() || v.as_f64().is_some_and(|n| n.fract() == 0.0);
        self.types.has(Types::of(value)) || (self.integer && is_whole(value))
    }
}

const NAMES: [(&str, Types); 7] = [
    ("null", Types::NULL),
    ("boolean", Types::BOOLEAN),
    ("number", Types::NUMBER),
    ("integer", Types::NUMBER),
    ("string", Types::STRING),
    ("array", Types::ARRAY),
    ("object", Types::OBJECT),
];

impl fmt::Display for Kinds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = |(name, kind): &(&str, Types)| match *name {
            "integer" => self.integer,
            _ => self.types.has(*kind),
        };
        let names: Vec<&str> = NAMES.iter().filter(|n| named(n)).map(|(name, _)| *name).collect();
        f.write_str(&names.join(" or "))
    }
}

impl Members {
    /// Members of an object that nothing is said of.
    pub(super) fn undeclared<'v>(
        &self,
        object: &'v serde_json::Map<String, Value>,
    ) -> impl Iterator<Item = &'v String> {
        object.keys().filter(|name| {
            !self.declared.contains_key(*name)
                && !self.patterns.iter().any(|(pattern, _)| pattern.is_match(name))
        })
    }
}
