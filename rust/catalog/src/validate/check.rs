//! Whether a value is of a schema, in bounded time.
//!
//! A node that more than one way leads to is asked once about each value: the work is at most
//! the size of the value times that of the schema, however deep alternatives and references
//! are nested. Beyond a number of steps, or a depth, there is no answer.

use regex::Regex;
use rustc_hash::FxHashMap;
use serde_json::Value;

use super::equal::{any_twice, equal};
use super::program::Program;
use super::rules::{At, Bound, Members, Rule, Size};

/// Steps that any check may take.
const STEPS: usize = 2_000_000;
/// Further steps for each value inside the one that is checked.
const STEPS_PER_VALUE: usize = 8;
/// Characters of a text that are looked at in one step.
const STEP_CHARS: usize = 64;

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// Too many steps.
    Work,
    /// Too deep for the stack.
    Depth,
}

/// A step into a value.
#[derive(Clone, Copy, Debug)]
pub(super) enum Token<'v> {
    Key(&'v str),
    Item(usize),
}

/// What is done with a node and the value that it applies to; `Ok(false)` ends it.
type Visit<'f, 'p, 'v> =
    &'f mut dyn FnMut(&mut Check<'p, 'v>, Option<Token<'v>>, At, &'v Value) -> Result<bool, Stop>;

pub(super) struct Check<'p, 'v> {
    pub(super) program: &'p Program,
    /// Answers of shared nodes; `None` while one is being found.
    known: FxHashMap<(At, *const Value), Option<bool>>,
    steps: usize,
    depth: usize,
    _value: std::marker::PhantomData<&'v Value>,
}

impl<'p, 'v> Check<'p, 'v> {
    /// Checks that may nest `depth` nodes.
    pub(super) fn new(program: &'p Program, value: &Value, depth: usize) -> Self {
        let steps = STEPS.saturating_add(size(value).saturating_mul(STEPS_PER_VALUE));
        Self::with_steps(program, steps, depth)
    }

    fn with_steps(program: &'p Program, steps: usize, depth: usize) -> Self {
        let known = FxHashMap::default();
        Self { program, known, steps, depth, _value: std::marker::PhantomData }
    }

    fn pay(&mut self, steps: usize) -> Result<(), Stop> {
        self.steps = self.steps.checked_sub(steps).ok_or(Stop::Work)?;
        Ok(())
    }

    /// Whether `value` is of the schema at `at`.
    pub(super) fn valid(&mut self, at: At, value: &'v Value) -> Result<bool, Stop> {
        self.pay(1)?;
        let node = &self.program.nodes[at];
        if node.nullable && value.is_null() {
            return Ok(true);
        }
        // A scalar has no parts that could be visited over and over.
        let remembered = node.shared && (node.chains || value.is_object() || value.is_array());
        let key = (at, std::ptr::from_ref(value));
        if remembered {
            if let Some(known) = self.known.get(&key) {
                // A reference that leads to itself without a step into the value says nothing.
                return Ok(known.unwrap_or(true));
            }
            self.known.insert(key, None);
        }
        self.depth = self.depth.checked_sub(1).ok_or(Stop::Depth)?;
        let mut answer = true;
        for rule in &node.rules {
            if !self.holds(rule, value)? {
                answer = false;
                break;
            }
        }
        self.depth += 1;
        if remembered {
            self.known.insert(key, Some(answer));
        }
        Ok(answer)
    }

    /// Whether one rule holds for `value`.
    pub(super) fn holds(&mut self, rule: &'p Rule, value: &'v Value) -> Result<bool, Stop> {
        Ok(match rule {
            Rule::Never => false,
            Rule::Type(kinds) => kinds.have(value),
            Rule::Const(one) => equal(one, value),
            Rule::Enum(several) => {
                self.pay(several.len() / 8)?;
                several.iter().any(|one| equal(one, value))
            }
            Rule::Bound(bound, limit) => value.as_f64().is_none_or(|n| match bound {
                Bound::Minimum => n >= *limit,
                Bound::Maximum => n <= *limit,
                Bound::Above => n > *limit,
                Bound::Below => n < *limit,
            }),
            Rule::MultipleOf(of) => is_multiple(value, of),
            Rule::Size(kind, limit) => self.has_size(*kind, *limit, value)?,
            Rule::Pattern(pattern, _) => {
                let Some(text) = value.as_str() else { return Ok(true) };
                self.pay(text.len() / STEP_CHARS)?;
                pattern.is_match(text)
            }
            Rule::Required(names) => {
                let Some(object) = value.as_object() else { return Ok(true) };
                self.pay(names.len() / 8)?;
                names.iter().all(|name| object.contains_key(name))
            }
            Rule::DependentRequired(lists) => value.as_object().is_none_or(|object| {
                let has = |name: &String| object.contains_key(name);
                lists.iter().all(|(name, needs)| !has(name) || needs.iter().all(has))
            }),
            Rule::Unique => {
                let Some(items) = value.as_array() else { return Ok(true) };
                self.pay(size(value))?;
                !any_twice(items)
            }
            Rule::Contains(at, least, most) => {
                let Some(items) = value.as_array() else { return Ok(true) };
                let mut found = 0;
                for item in items {
                    found += usize::from(self.valid(*at, item)?);
                }
                (*least..=*most).contains(&found)
            }
            Rule::Names(at) => self.has_names(*at, value)?,
            Rule::Not(at) => !self.valid(*at, value)?,
            Rule::Any(several) => self.any(several, value)?,
            Rule::One(several) => {
                let mut found = 0;
                for at in several {
                    found += usize::from(self.valid(*at, value)?);
                    if found > 1 {
                        break;
                    }
                }
                found == 1
            }
            Rule::Members(members) => {
                self.may_have_members(members, value)? && self.parts_are_valid(rule, value)?
            }
            _ => self.parts_are_valid(rule, value)?,
        })
    }

    /// Whether one of several nodes holds.
    pub(super) fn any(&mut self, several: &[At], value: &'v Value) -> Result<bool, Stop> {
        for at in several {
            if self.valid(*at, value)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn parts_are_valid(&mut self, rule: &'p Rule, value: &'v Value) -> Result<bool, Stop> {
        self.parts(rule, value, &mut |check, _, at, part| check.valid(at, part))
    }

    /// The nodes that must all hold, for the rule to hold, of `value` or parts of it.
    pub(super) fn parts(
        &mut self,
        rule: &'p Rule,
        value: &'v Value,
        visit: Visit<'_, 'p, 'v>,
    ) -> Result<bool, Stop> {
        match (rule, value) {
            (Rule::All(several), _) => {
                for at in several {
                    if !visit(self, None, *at, value)? {
                        return Ok(false);
                    }
                }
            }
            (Rule::If(condition, then, other), _) => {
                let branch = if self.valid(*condition, value)? { then } else { other };
                return branch.map_or(Ok(true), |at| visit(self, None, at, value));
            }
            (Rule::DependentSchemas(several), Value::Object(object)) => {
                for (name, at) in several {
                    if object.contains_key(name) && !visit(self, None, *at, value)? {
                        return Ok(false);
                    }
                }
            }
            (Rule::Members(members), Value::Object(object)) => {
                for (name, item) in object {
                    self.pay(1 + members.patterns.len() * (1 + name.len() / STEP_CHARS))?;
                    let fits = |(pattern, _): &&(_, At)| Regex::is_match(pattern, name);
                    let declared = members.declared.get(name);
                    let matched = members.patterns.iter().filter(fits).map(|(_, at)| at);
                    let mut said = declared.into_iter().chain(matched).peekable();
                    let rest = if said.peek().is_none() { members.rest.as_ref() } else { None };
                    for at in said.chain(rest) {
                        if !visit(self, Some(Token::Key(name)), *at, item)? {
                            return Ok(false);
                        }
                    }
                }
            }
            (Rule::Items(listed, rest), Value::Array(items)) => {
                let rest = std::iter::repeat(rest.as_ref());
                let nodes = listed.iter().map(Some).chain(rest);
                for (i, (item, at)) in items.iter().zip(nodes).enumerate() {
                    let Some(at) = at else { break };
                    if !visit(self, Some(Token::Item(i)), *at, item)? {
                        return Ok(false);
                    }
                }
            }
            (Rule::UnevaluatedProperties(owner, at), Value::Object(object)) => {
                let seen = self.evaluated(*owner, value)?;
                for (name, item) in object {
                    if !seen.has_key(name) && !visit(self, Some(Token::Key(name)), *at, item)? {
                        return Ok(false);
                    }
                }
            }
            (Rule::UnevaluatedItems(owner, at), Value::Array(items)) => {
                let seen = self.evaluated(*owner, value)?;
                for (i, item) in items.iter().enumerate() {
                    if !seen.has_item(i) && !visit(self, Some(Token::Item(i)), *at, item)? {
                        return Ok(false);
                    }
                }
            }
            _ => {}
        }
        Ok(true)
    }
}

impl<'v> Check<'_, 'v> {
    /// What can be said of an object without a look into its members, or only at those that
    /// tell alternatives apart.
    fn may_have_members(&mut self, members: &Members, value: &'v Value) -> Result<bool, Stop> {
        let Some(object) = value.as_object() else { return Ok(true) };
        for (name, at) in &members.telling {
            if let Some(item) = object.get(name)
                && !self.valid(*at, item)?
            {
                return Ok(false);
            }
        }
        if !members.closed {
            return Ok(true);
        }
        self.pay(object.len() / 4 * (1 + members.patterns.len()))?;
        Ok(members.undeclared(object).next().is_none())
    }

    fn has_size(&mut self, kind: Size, limit: usize, value: &Value) -> Result<bool, Stop> {
        use Size::{MaxItems, MaxLength, MaxProperties, MinItems, MinLength, MinProperties};
        let size = match (kind, value) {
            (MinLength | MaxLength, Value::String(text)) => {
                self.pay(text.len() / STEP_CHARS)?;
                text.chars().count()
            }
            (MinItems | MaxItems, Value::Array(items)) => items.len(),
            (MinProperties | MaxProperties, Value::Object(object)) => object.len(),
            _ => return Ok(true),
        };
        Ok(match kind {
            MinLength | MinItems | MinProperties => size >= limit,
            MaxLength | MaxItems | MaxProperties => size <= limit,
        })
    }

    fn has_names(&mut self, at: At, value: &Value) -> Result<bool, Stop> {
        for name in value.as_object().into_iter().flat_map(serde_json::Map::keys) {
            let name = Value::String(name.clone());
            // Its own memory: the next name may be at the same address.
            let mut check = Check::with_steps(self.program, self.steps, self.depth);
            let answer = check.valid(at, &name)?;
            self.steps = check.steps;
            if !answer {
                return Ok(false);
            }
        }
        Ok(true)
    }

    pub(super) fn pay_for(&mut self, value: &Value) -> Result<(), Stop> {
        self.pay(match value {
            Value::Object(object) => object.len(),
            Value::Array(items) => items.len(),
            _ => 0,
        })
    }
}

fn is_multiple(value: &Value, of: &Value) -> bool {
    if let (Some(n), Some(of)) = (value.as_i64(), of.as_i64()) {
        return of == 0 || n.checked_rem(of).is_none_or(|rest| rest == 0);
    }
    let (Some(n), Some(of)) = (value.as_f64(), of.as_f64()) else { return true };
    // 19.99 is a multiple of 0.01, though not by its nearest double.
    let times = n / of;
    (times - times.round()).abs() <= times.abs() * 1e-12
}

/// Number of values inside a value, itself included.
fn size(value: &Value) -> usize {
    let inner: usize = match value {
        Value::Array(items) => items.iter().map(size).sum(),
        Value::Object(members) => members.values().map(size).sum(),
        _ => 0,
    };
    inner + 1
}
