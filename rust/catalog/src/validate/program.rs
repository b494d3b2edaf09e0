//! A schema as rules that can be checked one by one.

use rustc_hash::FxHashMap;
use serde_json::{Map, Value};

use super::compile::regex_of;
use super::references::{References, Target, escaped};
use super::rules::{At, Bound, Kinds, Members, Node, Rule, Size};

/// A schema document, ready to be checked against; the first node is the root.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) nodes: Vec<Node>,
}

impl Program {
    /// Makes the rules of a document that is a valid schema.
    pub(super) fn new(document: &Value) -> Self {
        let draft = document.get("$schema").and_then(Value::as_str).unwrap_or("");
        let mut maker = Maker {
            references: References::new(document),
            ref_alone: ["draft-04", "draft-06", "draft-07"].iter().any(|old| draft.contains(old)),
            nodes: Vec::new(),
            known: FxHashMap::default(),
            todo: Vec::new(),
            unevaluated: false,
        };
        maker.node(Target { schema: document, place: String::new(), resource: 0 });
        while let Some((at, target)) = maker.todo.pop() {
            maker.fill(at, &target);
        }
        if maker.unevaluated {
            // What is not evaluated is found by asking the same nodes once more.
            maker.nodes.iter_mut().for_each(|node| node.shared = true);
        }
        Self { nodes: maker.nodes }
    }
}

struct Maker<'a> {
    references: References<'a>,
    /// Old drafts: what stands beside a `$ref` says nothing.
    ref_alone: bool,
    nodes: Vec<Node>,
    known: FxHashMap<*const Value, At>,
    todo: Vec<(At, Target<'a>)>,
    unevaluated: bool,
}

impl<'a> Maker<'a> {
    fn node(&mut self, target: Target<'a>) -> At {
        let next = self.nodes.len();
        let at = *self.known.entry(std::ptr::from_ref(target.schema)).or_insert(next);
        if at == next {
            self.nodes.push(Node { place: target.place.clone(), ..Node::default() });
            self.todo.push((at, target));
        }
        at
    }

    fn inner(&mut self, outer: &Target<'a>, steps: &[&str], schema: &'a Value) -> At {
        let mut place = outer.place.clone();
        for step in steps {
            place.push('/');
            place.push_str(&escaped(step));
        }
        let resource = self.references.resource_of(schema).unwrap_or(outer.resource);
        self.node(Target { schema, place, resource })
    }

    fn list(&mut self, outer: &Target<'a>, keyword: &str, schemas: &'a [Value]) -> Vec<At> {
        let inner =
            |(i, schema): (usize, &'a Value)| self.inner(outer, &[keyword, &i.to_string()], schema);
        schemas.iter().enumerate().map(inner).collect()
    }

    fn map(&mut self, outer: &Target<'a>, keyword: &str, map: &'a Value) -> Vec<(String, At)> {
        let members = map.as_object().into_iter().flatten();
        members.map(|(k, schema)| (k.clone(), self.inner(outer, &[keyword, k], schema))).collect()
    }

    fn referred(&mut self, target: Option<Target<'a>>) -> Option<Rule> {
        let at = self.node(target?);
        self.nodes[at].shared = true;
        Some(Rule::All(vec![at]))
    }

    fn fill(&mut self, at: At, target: &Target<'a>) {
        let mut rules = Vec::new();
        match target.schema {
            Value::Object(schema) => {
                let alone = self.ref_alone && schema.contains_key("$ref");
                for (keyword, said) in schema {
                    if !alone || keyword == "$ref" {
                        if keyword == "dependencies" {
                            rules.push(Rule::DependentRequired(dependent(said)));
                        }
                        rules.extend(self.rule(target, schema, keyword, said));
                    }
                }
                rules.extend(self.members(target, schema).map(Rule::Members));
                self.nodes[at].nullable = schema.get("nullable") == Some(&Value::Bool(true));
            }
            Value::Bool(false) => rules.push(Rule::Never),
            _ => {}
        }
        rules.sort_by_key(Rule::rank);
        self.nodes[at].chains = rules.iter().any(Rule::chains);
        self.nodes[at].rules = rules;
    }

    /// The rule that a keyword makes, members of objects aside.
    fn rule(
        &mut self,
        target: &Target<'a>,
        schema: &'a Map<String, Value>,
        keyword: &'a str,
        said: &'a Value,
    ) -> Option<Rule> {
        let resource = target.resource;
        let exclusive = |word: &str| schema.get(word) == Some(&Value::Bool(true));
        let number = |kind| said.as_f64().map(|n| Rule::Bound(kind, n));
        let size = |kind| count(said).map(|n| Rule::Size(kind, n));
        let flag = |rule| (*said == Value::Bool(true)).then_some(rule);
        Some(match keyword {
            "$ref" => self.referred(self.references.resolve(resource, said.as_str()?))?,
            "$dynamicRef" => {
                self.referred(self.references.resolve_dynamic(resource, said.as_str()?))?
            }
            "$recursiveRef" => self.referred(Some(self.references.resolve_recursive(resource)))?,
            "type" => Rule::Type(Kinds::named(said)),
            "const" => Rule::Const(said.clone()),
            "enum" => Rule::Enum(said.as_array()?.clone()),
            "minimum" if exclusive("exclusiveMinimum") => number(Bound::Above)?,
            "maximum" if exclusive("exclusiveMaximum") => number(Bound::Below)?,
            "minimum" => number(Bound::Minimum)?,
            "maximum" => number(Bound::Maximum)?,
            "exclusiveMinimum" => number(Bound::Above)?,
            "exclusiveMaximum" => number(Bound::Below)?,
            "multipleOf" => Rule::MultipleOf(said.as_f64().map(|_| said.clone())?),
            "minLength" => size(Size::MinLength)?,
            "maxLength" => size(Size::MaxLength)?,
            "minItems" => size(Size::MinItems)?,
            "maxItems" => size(Size::MaxItems)?,
            "minProperties" => size(Size::MinProperties)?,
            "maxProperties" => size(Size::MaxProperties)?,
            "uniqueItems" => flag(Rule::Unique)?,
            "pattern" => Rule::Pattern(regex_of(said.as_str()?).ok()?, said.as_str()?.to_owned()),
            "required" => Rule::Required(texts(said)),
            "dependentRequired" => Rule::DependentRequired(dependent(said)),
            // Lists among the former are rules of their own; as schemas they say nothing.
            "dependencies" | "dependentSchemas" => {
                Rule::DependentSchemas(self.map(target, keyword, said))
            }
            "allOf" => Rule::All(self.list(target, keyword, said.as_array()?)),
            "anyOf" | "oneOf" => match self.list(target, keyword, said.as_array()?) {
                // Of a single alternative it can be told what is wrong.
                only if only.len() == 1 => Rule::All(only),
                several if keyword == "anyOf" => Rule::Any(several),
                several => Rule::One(several),
            },
            "not" => Rule::Not(self.inner(target, &[keyword], said)),
            "if" => {
                let branch = |this: &mut Self, word| {
                    schema.get(word).map(|schema| this.inner(target, &[word], schema))
                };
                let condition = self.inner(target, &[keyword], said);
                Rule::If(condition, branch(self, "then"), branch(self, "else"))
            }
            "propertyNames" => Rule::Names(self.inner(target, &[keyword], said)),
            "contains" => {
                let number = |word| schema.get(word).and_then(count);
                let (least, most) = (number("minContains"), number("maxContains"));
                let inner = self.inner(target, &[keyword], said);
                Rule::Contains(inner, least.unwrap_or(1), most.unwrap_or(usize::MAX))
            }
            "prefixItems" => {
                let rest = schema.get("items");
                let rest = rest.map(|rest| self.inner(target, &["items"], rest));
                Rule::Items(self.list(target, keyword, said.as_array()?), rest)
            }
            "items" => match said {
                Value::Array(listed) => {
                    let rest = schema.get("additionalItems");
                    let rest = rest.map(|rest| self.inner(target, &["additionalItems"], rest));
                    Rule::Items(self.list(target, keyword, listed), rest)
                }
                _ if schema.contains_key("prefixItems") => return None,
                _ => Rule::Items(Vec::new(), Some(self.inner(target, &[keyword], said))),
            },
            "unevaluatedProperties" | "unevaluatedItems" => {
                self.unevaluated = true;
                let owner = self.known[&std::ptr::from_ref(target.schema)];
                let inner = self.inner(target, &[keyword], said);
                if keyword == "unevaluatedItems" {
                    return Some(Rule::UnevaluatedItems(owner, inner));
                }
                Rule::UnevaluatedProperties(owner, inner)
            }
            _ => return None,
        })
    }

    fn members(&mut self, target: &Target<'a>, schema: &'a Map<String, Value>) -> Option<Members> {
        if self.ref_alone && schema.contains_key("$ref") {
            return None;
        }
        let mut members = Members::default();
        let rest = schema.get("additionalProperties");
        members.closed = rest == Some(&Value::Bool(false));
        members.open = rest == Some(&Value::Bool(true));
        let rest = rest.filter(|rest| rest.is_object());
        members.rest = rest.map(|rest| self.inner(target, &["additionalProperties"], rest));
        if let Some(declared) = schema.get("properties") {
            for (name, at) in self.map(target, "properties", declared) {
                let says =
                    |word| declared.get(&name).is_some_and(|inner| inner.get(word).is_some());
                if says("const") || says("enum") {
                    members.telling.push((name.clone(), at));
                }
                members.declared.insert(name, at);
            }
        }
        if let Some(patterns) = schema.get("patternProperties") {
            for (pattern, at) in self.map(target, "patternProperties", patterns) {
                members.patterns.push((regex_of(&pattern).ok()?, at));
            }
        }
        let says = !members.declared.is_empty() || !members.patterns.is_empty();
        (says || members.closed || members.open || members.rest.is_some()).then_some(members)
    }
}

fn count(said: &Value) -> Option<usize> {
    let whole = |n: f64| (n >= 0.0 && n.fract() == 0.0).then_some(n as usize);
    said.as_u64().map(|n| n as usize).or_else(|| said.as_f64().and_then(whole))
}

fn texts(said: &Value) -> Vec<String> {
    let texts = said.as_array().into_iter().flatten().filter_map(Value::as_str);
    texts.map(str::to_owned).collect()
}

fn dependent(said: &Value) -> Vec<(String, Vec<String>)> {
    let members = said.as_object().into_iter().flatten();
    members.filter(|(_, said)| said.is_array()).map(|(k, said)| (k.clone(), texts(said))).collect()
}
