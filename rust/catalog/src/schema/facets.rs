//! Which schema objects apply at one place: the schema itself, what it refers to, its `allOf`.

use std::borrow::Cow;

use serde_json::{Map, Value};

/// Schema objects that may apply together at one place.
const MAX_FACETS: usize = 64;

/// The JSON types, as a set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Types(u8);

impl Types {
    pub(crate) const NULL: Self = Self(1);
    pub(crate) const BOOLEAN: Self = Self(2);
    pub(crate) const NUMBER: Self = Self(4);
    pub(crate) const STRING: Self = Self(8);
    pub(crate) const ARRAY: Self = Self(16);
    pub(crate) const OBJECT: Self = Self(32);
    pub(crate) const ANY: Self = Self(63);
    pub(crate) const NONE: Self = Self(0);

    pub(crate) fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(crate) fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(crate) fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// What the keyword `type` allows; anything but known names says nothing.
    fn declared(keyword: &Value) -> Self {
        let one = |v: &Value| match v.as_str() {
            Some("null") => Self::NULL,
            Some("boolean") => Self::BOOLEAN,
            Some("number" | "integer") => Self::NUMBER,
            Some("string") => Self::STRING,
            Some("array") => Self::ARRAY,
            Some("object") => Self::OBJECT,
            _ => Self::ANY,
        };
        match keyword {
            Value::Array(names) if !names.is_empty() => {
                names.iter().fold(Self::NONE, |set, name| set.or(one(name)))
            }
            other => one(other),
        }
    }

    /// The type of a value.
    pub(crate) fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::NULL,
            Value::Bool(_) => Self::BOOLEAN,
            Value::Number(_) => Self::NUMBER,
            Value::String(_) => Self::STRING,
            Value::Array(_) => Self::ARRAY,
            Value::Object(_) => Self::OBJECT,
        }
    }
}

/// What applies at one place.
#[derive(Default)]
pub(crate) struct Facets<'a> {
    /// Schema objects, in source order, references followed.
    pub(crate) objects: Vec<&'a Map<String, Value>>,
    /// Whether the schema `false` is among them.
    pub(crate) never: bool,
    /// Whether something that applies was left out: a cycle, a dangling or foreign reference,
    /// too many parts.
    pub(crate) partial: bool,
}

impl Facets<'_> {
    /// The types that every facet allows, `nullable` aside.
    pub(crate) fn types(&self) -> Types {
        self.objects
            .iter()
            .filter_map(|o| o.get("type"))
            .fold(Types::ANY, |set, keyword| set.and(Types::declared(keyword)))
    }

    /// Whether null passes by `nullable: true` (the `OpenAPI` spelling): the place itself says
    /// so, or some part of it, and no other part speaks of types or values.
    pub(crate) fn nullable(&self) -> bool {
        let says = |o: &Map<String, Value>| o.get("nullable") == Some(&Value::Bool(true));
        let open = |o: &Map<String, Value>| {
            says(o) || !["type", "enum", "const"].iter().any(|word| o.contains_key(*word))
        };
        let all = || self.objects.iter().copied();
        all().next().is_some_and(says) || (all().any(says) && all().all(open))
    }

    /// The values of `keyword` in all facets.
    pub(crate) fn all<'s>(&'s self, keyword: &'s str) -> impl Iterator<Item = &'s Value> + 's {
        self.objects.iter().filter_map(move |o| o.get(keyword))
    }
}

/// Follows references inside one schema document. Nothing is ever fetched.
pub(crate) struct Resolver<'a> {
    root: &'a Value,
    /// Reference targets between the root and the place in hand: meeting one again is a cycle.
    path: Vec<*const Value>,
}

impl<'a> Resolver<'a> {
    pub(crate) fn new(root: &'a Value) -> Self {
        Self { root, path: Vec::new() }
    }

    /// The same document, on no path yet.
    pub(crate) fn fresh(&self) -> Self {
        Self::new(self.root)
    }

    /// Collects what applies at `schemas`. The caller gives [`Resolver::mark`] back to
    /// [`Resolver::leave`] when it is done with the place and everything below it.
    pub(crate) fn facets(&mut self, schemas: &[&'a Value]) -> Facets<'a> {
        let level = self.path.len();
        let mut facets = Facets::default();
        let mut todo: Vec<&'a Value> = schemas.iter().rev().copied().collect();
        while let Some(schema) = todo.pop() {
            let Value::Object(object) = schema else {
                facets.never |= *schema == Value::Bool(false);
                continue;
            };
            if facets.objects.len() >= MAX_FACETS {
                facets.partial = true;
                break;
            }
            facets.objects.push(object);
            if let Some(Value::Array(parts)) = object.get("allOf") {
                facets.partial |= parts.len() > MAX_FACETS;
                todo.extend(parts.iter().take(MAX_FACETS).rev());
            }
            facets.partial |=
                object.contains_key("$dynamicRef") || object.contains_key("$recursiveRef");
            if let Some(reference) = object.get("$ref") {
                match reference.as_str().and_then(|r| lookup(self.root, r)) {
                    Some(target) => {
                        let address = std::ptr::from_ref(target);
                        match self.path.iter().position(|seen| *seen == address) {
                            None => {
                                self.path.push(address);
                                todo.push(target);
                            }
                            // At this very place it is already among the facets.
                            Some(at) => facets.partial |= at < level,
                        }
                    }
                    None => facets.partial = true,
                }
            }
        }
        facets
    }

    pub(crate) fn mark(&self) -> usize {
        self.path.len()
    }

    pub(crate) fn leave(&mut self, mark: usize) {
        self.path.truncate(mark);
    }
}

/// The target of a local reference (`#`, `#/a/b`); `None` for what is dangling or elsewhere.
pub(crate) fn lookup<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    root.pointer(&percent_decode(reference.strip_prefix('#')?))
}

pub(crate) fn percent_decode(text: &str) -> Cow<'_, str> {
    if !text.contains('%') {
        return text.into();
    }
    let bytes = text.as_bytes();
    let (mut out, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while at < bytes.len() {
        let hex = (bytes[at] == b'%').then(|| text.get(at + 1..at + 3)).flatten();
        if let Some(byte) = hex.and_then(|h| u8::from_str_radix(h, 16).ok()) {
            out.push(byte);
            at += 3;
        } else {
            out.push(bytes[at]);
            at += 1;
        }
    }
    String::from_utf8_lossy(&out).into_owned().into()
}
