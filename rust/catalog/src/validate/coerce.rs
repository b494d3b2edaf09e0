//! Values that say what is wanted in another form: texts for arrays and objects, `1e16` for an
//! integer.

use serde_json::Value;

use crate::schema::facets::{Facets, Resolver, Types};

/// Nesting of alternatives and values that is looked into.
const MAX_DEPTH: usize = 32;
/// Places that are looked at; schemas can multiply them.
const MAX_PLACES: usize = 100_000;
/// Alternatives that are looked at; they can be nested in each other.
const MAX_LOOKS: usize = 400_000;
/// Bytes of text that are parsed in one input; longer texts are left as they are. Who has that
/// much to send has it as values.
const MAX_TEXT: usize = 1 << 20;

/// A step into a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Member of an object.
    Key(String),
    /// Item of an array.
    Index(usize),
}

/// Whether the schema is one of objects (it may allow more).
pub(super) fn wants_object(schema: &Value) -> bool {
    let mut walk = Walk::new(schema);
    let mark = walk.resolver.mark();
    let facets = walk.resolver.facets(&[schema]);
    let types = walk.types(&facets, 0);
    walk.resolver.leave(mark);
    types != Types::ANY && types.has(Types::OBJECT)
}

/// Replaces what has to be, and gives the places in order.
pub(super) fn coerce(schema: &Value, input: &mut Value) -> Vec<Vec<Step>> {
    let mut walk = Walk::new(schema);
    walk.place(&[schema], input, 0);
    walk.found
}

struct Walk<'a> {
    resolver: Resolver<'a>,
    left: usize,
    looks_left: usize,
    text_left: usize,
    path: Vec<Step>,
    found: Vec<Vec<Step>>,
}

impl<'a> Walk<'a> {
    fn new(schema: &'a Value) -> Self {
        Self {
            resolver: Resolver::new(schema),
            left: MAX_PLACES,
            looks_left: MAX_LOOKS,
            text_left: MAX_TEXT,
            path: Vec::new(),
            found: Vec::new(),
        }
    }

    fn place(&mut self, schemas: &[&'a Value], value: &mut Value, depth: usize) {
        if self.left == 0 || depth > MAX_DEPTH || schemas.is_empty() {
            return;
        }
        self.left -= 1;
        // A cycle of references is no cycle of values: each level of the value starts anew.
        let mut resolver = self.resolver.fresh();
        std::mem::swap(&mut resolver, &mut self.resolver);
        let facets = self.resolver.facets(schemas);
        if let Value::String(text) = value {
            let types = self.types(&facets, 0);
            if !types.has(Types::STRING)
                && text.len() <= self.text_left
                && let Some(parsed) = self.parsed_as(text, types)
            {
                *value = parsed;
                self.found.push(self.path.clone());
            }
        }
        if is_whole(value) && wants_integer(&facets) {
            self.found.push(self.path.clone());
        }
        match value {
            Value::Object(members) => {
                for (key, member) in members {
                    let inner = properties(&facets, key);
                    if !inner.is_empty() {
                        self.path.push(Step::Key(key.clone()));
                        self.place(&inner, member, depth + 1);
                        self.path.pop();
                    }
                }
            }
            Value::Array(items) => {
                let inner: Vec<&'a Value> = facets
                    .objects
                    .iter()
                    .filter_map(|o| o.get("items"))
                    .filter(|items| items.is_object())
                    .collect();
                if !inner.is_empty() {
                    for (i, item) in items.iter_mut().enumerate() {
                        self.path.push(Step::Index(i));
                        self.place(&inner, item, depth + 1);
                        self.path.pop();
                    }
                }
            }
            _ => {}
        }
        self.alternatives(&facets, value, depth);
        self.resolver = resolver;
    }

    /// Looks inside the one alternative that has a shape: `anyOf: [{array}, {null}]`.
    fn alternatives(&mut self, facets: &Facets<'a>, value: &mut Value, depth: usize) {
        for object in &facets.objects {
            for keyword in ["anyOf", "oneOf"] {
                let Some(Value::Array(branches)) = object.get(keyword) else { continue };
                let mut shaped = Vec::new();
                for branch in branches.iter().take(16) {
                    if self.branch_types(branch, 0).has(Types::of(value)) {
                        shaped.push(branch);
                    }
                }
                if let [only] = shaped[..] {
                    self.place(&[only], value, depth + 1);
                }
            }
        }
    }

    fn branch_types(&mut self, branch: &'a Value, depth: usize) -> Types {
        if self.looks_left == 0 {
            return Types::ANY;
        }
        self.looks_left -= 1;
        let mark = self.resolver.mark();
        let facets = self.resolver.facets(&[branch]);
        let types = self.types(&facets, depth);
        self.resolver.leave(mark);
        types
    }

    /// The types that a value may have here.
    fn types(&mut self, facets: &Facets<'a>, depth: usize) -> Types {
        if facets.never {
            return Types::NONE;
        }
        let mut types = facets.types();
        for object in &facets.objects {
            let values = match (object.get("const"), object.get("enum")) {
                (Some(value), _) => std::slice::from_ref(value),
                (None, Some(Value::Array(values))) => values.as_slice(),
                _ => &[],
            };
            if !values.is_empty() {
                let known = values.iter().fold(Types::NONE, |set, v| set.or(Types::of(v)));
                types = types.and(known);
            }
            for keyword in ["anyOf", "oneOf"] {
                if let Some(Value::Array(branches)) = object.get(keyword)
                    && depth < 4
                {
                    let mut any = Types::NONE;
                    for branch in branches.iter().take(64) {
                        any = any.or(self.branch_types(branch, depth + 1));
                    }
                    types = types.and(any);
                }
            }
        }
        if facets.nullable() {
            types = types.or(Types::NULL);
        }
        let shaped = ["properties", "required", "additionalProperties"]
            .iter()
            .any(|keyword| facets.all(keyword).next().is_some());
        if types == Types::ANY && shaped { Types::OBJECT } else { types }
    }

    fn parsed_as(&mut self, text: &str, types: Types) -> Option<Value> {
        let wanted = match text.trim_start().as_bytes().first()? {
            b'[' => Types::ARRAY,
            b'{' => Types::OBJECT,
            _ => return None,
        };
        if types == Types::ANY || !types.has(wanted) {
            return None;
        }
        self.text_left -= text.len();
        serde_json::from_str(text).ok()
    }
}

fn properties<'a>(facets: &Facets<'a>, key: &str) -> Vec<&'a Value> {
    let declared: Vec<&'a Value> = facets
        .objects
        .iter()
        .filter_map(|o| o.get("properties").and_then(|p| p.get(key)))
        .collect();
    if !declared.is_empty() {
        return declared;
    }
    facets
        .objects
        .iter()
        .filter_map(|o| o.get("additionalProperties"))
        .filter(|schema| schema.is_object())
        .collect()
}

/// Whether it is a number without a fraction in the form of one that may have some.
fn is_whole(value: &Value) -> bool {
    matches!(value, Value::Number(n) if n.is_f64() && n.as_f64().is_some_and(|f| f.fract() == 0.0))
}

fn wants_integer(facets: &Facets<'_>) -> bool {
    facets.all("type").any(|keyword| {
        let names = match keyword {
            Value::Array(names) => names.as_slice(),
            one => std::slice::from_ref(one),
        };
        names.iter().any(|name| name == "integer") && names.iter().all(|name| name != "number")
    })
}
