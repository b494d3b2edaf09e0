//! The type that a schema describes, before it is written down.

use serde_json::Value;

/// A TypeScript type.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Type<'a> {
    Unknown,
    /// `never`, `null`, `string`, …
    Word(&'static str),
    /// A scalar literal (`const`, a member of `enum`).
    Literal(&'a Value),
    Array(Box<Type<'a>>),
    Tuple {
        items: Vec<Type<'a>>,
        /// How many of `items` must be there.
        required: usize,
        rest: Option<Box<Type<'a>>>,
    },
    Object(Object<'a>),
    Union(Vec<Type<'a>>),
    Intersection(Vec<Type<'a>>),
}

/// An object type.
#[derive(Clone, Debug, PartialEq, Default)]
pub(crate) struct Object<'a> {
    /// In the order asked for.
    pub(crate) properties: Vec<Property<'a>>,
    /// Type of what is not declared, where the schema says something of it.
    pub(crate) rest: Option<Box<Type<'a>>>,
    /// Whether the schema says nothing of the members at all.
    pub(crate) bare: bool,
}

/// A declared property.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Property<'a> {
    pub(crate) name: &'a str,
    pub(crate) required: bool,
    pub(crate) description: Option<&'a str>,
    pub(crate) kind: Type<'a>,
}

impl<'a> Type<'a> {
    pub(crate) const NEVER: Self = Type::Word("never");
    pub(crate) const NULL: Self = Type::Word("null");

    /// The union of `members`: flat, without repetition, absorbed by `unknown`.
    pub(crate) fn union(members: impl IntoIterator<Item = Type<'a>>) -> Self {
        // Beyond this many members repetitions stay: they are valid and looking is quadratic.
        const COMPARED: usize = 32;
        let mut flat: Vec<Type<'a>> = Vec::new();
        for member in members {
            let parts = match member {
                Type::Union(parts) => parts,
                other => vec![other],
            };
            for part in parts {
                match part {
                    Type::Unknown => return Type::Unknown,
                    Type::Word("never") => {}
                    part if flat.len() <= COMPARED && flat.contains(&part) => {}
                    part => flat.push(part),
                }
            }
        }
        let is_bool = |t: &Type<'_>, b| matches!(t, Type::Literal(Value::Bool(v)) if *v == b);
        if flat.iter().any(|t| is_bool(t, true)) && flat.iter().any(|t| is_bool(t, false)) {
            let at = flat.iter().position(|t| is_bool(t, true) || is_bool(t, false));
            flat[at.unwrap_or(0)] = Type::Word("boolean");
            flat.retain(|t| !is_bool(t, true) && !is_bool(t, false));
        }
        match flat.len() {
            0 => Type::NEVER,
            1 => flat.remove(0),
            _ => Type::Union(flat),
        }
    }

    /// The intersection of `members`, without those that add nothing.
    pub(crate) fn intersection(members: impl IntoIterator<Item = Type<'a>>) -> Self {
        let mut kept: Vec<Type<'a>> = Vec::new();
        for member in members {
            match member {
                Type::Unknown => {}
                Type::Word("never") => return Type::NEVER,
                member if kept.contains(&member) => {}
                member => kept.push(member),
            }
        }
        if kept.len() > 1 && kept.iter().any(|t| !t.is_bare() && t.is_objects()) {
            kept.retain(|t| !t.is_bare());
        }
        match kept.len() {
            0 => Type::Unknown,
            1 => kept.remove(0),
            _ => Type::Intersection(kept),
        }
    }

    fn is_bare(&self) -> bool {
        matches!(self, Type::Object(o) if o.bare)
    }

    /// Whether every value of this type is an object.
    fn is_objects(&self) -> bool {
        match self {
            Type::Object(_) => true,
            Type::Union(members) => members.iter().all(Type::is_objects),
            Type::Intersection(members) => members.iter().any(Type::is_objects),
            _ => false,
        }
    }
}
