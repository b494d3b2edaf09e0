//! Which members and items of a value some part of a schema speaks of, for `unevaluated…`.

use rustc_hash::FxHashSet;
use serde_json::Value;

use super::check::{Check, Stop};
use super::rules::{At, Rule};

#[derive(Default)]
pub(super) struct Evaluated<'v> {
    all_keys: bool,
    keys: FxHashSet<&'v str>,
    all_items: bool,
    first_items: usize,
    items: FxHashSet<usize>,
    seen: FxHashSet<At>,
}

impl Evaluated<'_> {
    pub(super) fn has_key(&self, name: &str) -> bool {
        self.all_keys || self.keys.contains(name)
    }

    pub(super) fn has_item(&self, at: usize) -> bool {
        self.all_items || at < self.first_items || self.items.contains(&at)
    }
}

impl<'v> Check<'_, 'v> {
    /// What the node at `owner` speaks of, its own `unevaluated…` aside.
    pub(super) fn evaluated(&mut self, owner: At, value: &'v Value) -> Result<Evaluated<'v>, Stop> {
        let mut out = Evaluated::default();
        let mut todo = vec![owner];
        while let Some(at) = todo.pop() {
            if !out.seen.insert(at) {
                continue;
            }
            self.pay_for(value)?;
            for rule in &self.program.nodes[at].rules {
                match (rule, value) {
                    (Rule::All(several) | Rule::Any(several) | Rule::One(several), _) => {
                        for at in several {
                            if self.valid(*at, value)? {
                                todo.push(*at);
                            }
                        }
                    }
                    (Rule::If(condition, then, other), _) => {
                        let holds = self.valid(*condition, value)?;
                        todo.extend(holds.then_some(condition));
                        todo.extend(if holds { then } else { other });
                    }
                    (Rule::DependentSchemas(several), Value::Object(object)) => {
                        let applies = several.iter().filter(|(name, _)| object.contains_key(name));
                        todo.extend(applies.map(|(_, at)| at));
                    }
                    (Rule::Members(members), Value::Object(object)) => {
                        out.all_keys |= members.closed || members.rest.is_some() || members.open;
                        let is_said = |name: &&String| {
                            members.declared.contains_key(*name)
                                || members.patterns.iter().any(|(p, _)| p.is_match(name))
                        };
                        out.keys.extend(object.keys().filter(is_said).map(String::as_str));
                    }
                    (Rule::UnevaluatedProperties(..), _) => out.all_keys |= at != owner,
                    (Rule::UnevaluatedItems(..), _) => out.all_items |= at != owner,
                    (Rule::Items(listed, rest), _) => {
                        out.all_items |= rest.is_some();
                        out.first_items = out.first_items.max(listed.len());
                    }
                    (Rule::Contains(inner, ..), Value::Array(items)) => {
                        for (i, item) in items.iter().enumerate() {
                            if self.valid(*inner, item)? {
                                out.items.insert(i);
                            }
                        }
                    }
                    _ => {}
                }
            }
        }
        Ok(out)
    }
}
