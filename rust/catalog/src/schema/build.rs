//! JSON Schema to [`Type`]: total, bounded in depth and in work.

use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Map, Value};

use super::facets::{Facets, Resolver, Types};
use super::types::{Object, Property, Type};

/// Nesting that is described; below it stands `unknown`.
const MAX_DEPTH: usize = 24;

/// A schema as a type.
pub(crate) struct Built<'a> {
    pub(crate) kind: Type<'a>,
    /// Whether the type says all that the schema says of the shape, and every object is closed.
    pub(crate) exact: bool,
    /// Whether something was left out only because there was too much of it.
    pub(crate) cut: bool,
}

/// In which order properties are listed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    Source,
    RequiredFirst,
}

/// Describes `schema` with at most about `nodes` types; the rest is `unknown`. References can
/// multiply a schema, `nodes` is what bounds the work.
pub(crate) fn build(schema: &Value, nodes: usize, order: Order) -> Built<'_> {
    build_place(schema, schema, nodes, order)
}

/// Describes one place of the document `root`.
pub(crate) fn build_place<'a>(
    root: &'a Value,
    place: &'a Value,
    nodes: usize,
    order: Order,
) -> Built<'a> {
    let mut builder =
        Builder { resolver: Resolver::new(root), nodes, exact: true, cut: false, order };
    let kind = builder.place(&[place], 0);
    Built { kind, exact: builder.exact, cut: builder.cut }
}

struct Builder<'a> {
    resolver: Resolver<'a>,
    nodes: usize,
    exact: bool,
    cut: bool,
    order: Order,
}

impl<'a> Builder<'a> {
    fn cut(&mut self) -> Type<'a> {
        self.exact = false;
        self.cut = true;
        Type::Unknown
    }

    /// Pays for work that makes no types of its own, so that repeating it by references is bounded.
    fn pay(&mut self, work: usize) {
        self.nodes = self.nodes.saturating_sub(work / 16);
    }

    /// The type of a value to which all of `schemas` apply.
    fn place(&mut self, schemas: &[&'a Value], depth: usize) -> Type<'a> {
        if self.nodes == 0 || depth > MAX_DEPTH {
            return self.cut();
        }
        self.nodes -= 1;
        let mark = self.resolver.mark();
        let facets = self.resolver.facets(schemas);
        self.exact &= !facets.partial;
        self.nodes = self.nodes.saturating_sub(facets.objects.len().saturating_sub(1));
        let kind = if facets.never { Type::NEVER } else { self.described(&facets, depth) };
        self.resolver.leave(mark);
        kind
    }

    fn described(&mut self, facets: &Facets<'a>, depth: usize) -> Type<'a> {
        let base = match self.literals(facets) {
            Some(literals) => literals,
            None => self.typed(facets, depth),
        };
        let mut parts = vec![base];
        for object in &facets.objects {
            for keyword in ["anyOf", "oneOf"] {
                if let Some(Value::Array(branches)) = object.get(keyword) {
                    let mut members = Vec::new();
                    for branch in branches {
                        members.push(self.place(&[branch], depth + 1));
                        if self.nodes == 0 {
                            break;
                        }
                    }
                    parts.push(Type::union(members));
                }
            }
        }
        let kind = Type::intersection(parts);
        if facets.nullable() { Type::union([kind, Type::NULL]) } else { kind }
    }

    /// What `const` and `enum` allow, if there is one.
    fn literals(&mut self, facets: &Facets<'a>) -> Option<Type<'a>> {
        let types = facets.types();
        for object in &facets.objects {
            let values = match (object.get("const"), object.get("enum")) {
                (Some(value), _) => std::slice::from_ref(value),
                (None, Some(Value::Array(values))) => values.as_slice(),
                _ => continue,
            };
            self.pay(values.len());
            let mut members = Vec::new();
            for value in values.iter().filter(|v| types.has(Types::of(v))) {
                self.nodes = self.nodes.saturating_sub(1);
                if self.nodes == 0 {
                    return Some(self.cut());
                }
                members.push(match value {
                    Value::Null => Type::NULL,
                    Value::Array(_) => {
                        self.exact = false;
                        Type::Array(Box::new(Type::Unknown))
                    }
                    Value::Object(_) => {
                        self.exact = false;
                        Type::Object(Object { bare: true, ..Object::default() })
                    }
                    scalar => Type::Literal(scalar),
                });
            }
            return Some(Type::union(members));
        }
        None
    }

    /// What `type` and the keywords of each type say.
    fn typed(&mut self, facets: &Facets<'a>, depth: usize) -> Type<'a> {
        let mut types = facets.types();
        if types == Types::ANY {
            let says = |words: &[&str]| words.iter().any(|w| facets.all(w).next().is_some());
            // A schema that speaks of members means objects, though by the letter it also lets
            // everything else pass.
            if says(&["properties", "required", "additionalProperties", "patternProperties"]) {
                types = Types::OBJECT;
                self.exact = false;
            } else if says(&["items", "prefixItems"]) {
                types = Types::ARRAY;
                self.exact = false;
            } else {
                return Type::Unknown;
            }
        }
        let mut members = Vec::new();
        if types.has(Types::STRING) {
            members.push(Type::Word("string"));
        }
        if types.has(Types::NUMBER) {
            members.push(Type::Word("number"));
        }
        if types.has(Types::BOOLEAN) {
            members.push(Type::Word("boolean"));
        }
        if types.has(Types::ARRAY) {
            members.push(self.array(facets, depth));
        }
        if types.has(Types::OBJECT) {
            members.push(self.object(facets, depth));
        }
        if types.has(Types::NULL) {
            members.push(Type::NULL);
        }
        Type::union(members)
    }

    fn array(&mut self, facets: &Facets<'a>, depth: usize) -> Type<'a> {
        for object in &facets.objects {
            let (listed, rest) = match (object.get("prefixItems"), object.get("items")) {
                (Some(Value::Array(listed)), rest) => (listed, rest),
                (None, Some(Value::Array(listed))) => (listed, object.get("additionalItems")),
                _ => continue,
            };
            return self.tuple(object, listed, rest, depth);
        }
        let items: Vec<&'a Value> =
            facets.objects.iter().filter_map(|object| object.get("items")).collect();
        let item = if items.is_empty() { Type::Unknown } else { self.place(&items, depth + 1) };
        Type::Array(Box::new(item))
    }

    fn tuple(
        &mut self,
        object: &'a Map<String, Value>,
        listed: &'a [Value],
        rest: Option<&'a Value>,
        depth: usize,
    ) -> Type<'a> {
        let bound = |keyword: &str| object.get(keyword).and_then(Value::as_u64);
        let length = bound("maxItems").map_or(usize::MAX, |n| n as usize);
        let mut items = Vec::new();
        for item in listed.iter().take(length) {
            items.push(self.place(&[item], depth + 1));
            if self.nodes == 0 {
                return Type::Array(Box::new(self.cut()));
            }
        }
        let required = bound("minItems").map_or(0, |n| n as usize).min(items.len());
        let rest = match rest {
            Some(Value::Bool(false)) => None,
            _ if length <= listed.len() => None,
            Some(schema) => Some(Box::new(self.place(&[schema], depth + 1))),
            None => Some(Box::new(Type::Unknown)),
        };
        Type::Tuple { items, required, rest }
    }

    fn object(&mut self, facets: &Facets<'a>, depth: usize) -> Type<'a> {
        let required: FxHashSet<&str> = facets
            .all("required")
            .filter_map(Value::as_array)
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let declared = declared_properties(facets);
        self.pay(required.len());
        let mut properties = Vec::with_capacity(declared.len());
        let mut named: FxHashSet<&str> = FxHashSet::default();
        for (name, schemas) in declared {
            if required.contains(name) {
                named.insert(name);
            }
            properties.push(Property {
                name,
                required: required.contains(name),
                description: schemas
                    .iter()
                    .find_map(|schema| schema.get("description").and_then(Value::as_str)),
                kind: self.place(&schemas, depth + 1),
            });
        }
        if named.len() < required.len() {
            self.exact = false;
            for object in &facets.objects {
                let Some(Value::Array(all)) = object.get("required") else { continue };
                for name in all.iter().filter_map(Value::as_str) {
                    if named.insert(name) {
                        let kind = Type::Unknown;
                        properties.push(Property { name, required: true, description: None, kind });
                    }
                }
            }
        }
        if self.order == Order::RequiredFirst {
            properties.sort_by_key(|p| !p.required);
        }
        let (rest, closed) = self.rest(facets, !properties.is_empty(), depth);
        self.exact &= closed;
        let bare = properties.is_empty()
            && rest.is_none()
            && !closed
            && facets.all("properties").next().is_none();
        Type::Object(Object { properties, rest, bare })
    }

    /// What is said of members that are not declared, and whether there can be none.
    fn rest(
        &mut self,
        facets: &Facets<'a>,
        declared: bool,
        depth: usize,
    ) -> (Option<Box<Type<'a>>>, bool) {
        let additional: Vec<&'a Value> =
            facets.objects.iter().filter_map(|o| o.get("additionalProperties")).collect();
        let patterns: Vec<&'a Value> = facets
            .objects
            .iter()
            .filter_map(|o| o.get("patternProperties").and_then(Value::as_object))
            .flat_map(Map::values)
            .collect();
        let closed = additional.contains(&&Value::Bool(false))
            || facets.all("unevaluatedProperties").any(|v| *v == Value::Bool(false));
        let schemas = additional.iter().any(|v| v.is_object());
        if patterns.is_empty() && !schemas {
            return (None, closed);
        }
        // Beside declared properties an index signature must fit all of them, and a pattern
        // says nothing of other keys: `unknown` is what is true of every key.
        if declared || (!patterns.is_empty() && !closed) {
            self.exact = false;
            return (Some(Box::new(Type::Unknown)), closed);
        }
        let kind = if patterns.is_empty() {
            self.place(&additional, depth + 1)
        } else {
            let mut members = Vec::new();
            for pattern in patterns {
                members.push(self.place(&[pattern], depth + 1));
            }
            Type::union(members)
        };
        (Some(Box::new(kind)), closed)
    }
}

/// Declared properties in source order, each with every schema that applies to it.
fn declared_properties<'a>(facets: &Facets<'a>) -> Vec<(&'a str, Vec<&'a Value>)> {
    let maps: Vec<&'a Map<String, Value>> = in_reading_order(facets)
        .filter_map(|object| object.get("properties").and_then(Value::as_object))
        .collect();
    let mut out: Vec<(&'a str, Vec<&'a Value>)> = Vec::new();
    let mut at: FxHashMap<&'a str, usize> = FxHashMap::default();
    for map in &maps {
        for (name, schema) in *map {
            if maps.len() > 1 {
                if let Some(seen) = at.get(name.as_str()) {
                    out[*seen].1.push(schema);
                    continue;
                }
                at.insert(name, out.len());
            }
            out.push((name, vec![schema]));
        }
    }
    out
}

/// Referenced schemas before the siblings of the reference: a base, then what is added to it.
fn in_reading_order<'f, 'a>(
    facets: &'f Facets<'a>,
) -> impl Iterator<Item = &'a Map<String, Value>> + 'f {
    let has_ref = facets.objects.first().is_some_and(|o| o.contains_key("$ref"));
    let (first, rest) = facets.objects.split_at(usize::from(has_ref));
    rest.iter().chain(first).copied()
}
