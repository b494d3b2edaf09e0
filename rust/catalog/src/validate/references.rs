//! Where the references of one schema document lead. Nothing outside it is ever loaded.

use rustc_hash::FxHashMap;
use serde_json::Value;
use url::Url;

use super::compile::PLACE;
use crate::schema::facets::percent_decode;

/// A schema inside the document.
#[derive(Clone, Debug)]
pub(super) struct Target<'a> {
    pub(super) schema: &'a Value,
    /// JSON pointer to it from the root of the document.
    pub(super) place: String,
    /// The resource (a part of the document with an `$id`) that its own references start from.
    pub(super) resource: usize,
}

pub(super) struct References<'a> {
    /// URL and root of each resource; the first is the document.
    resources: Vec<(Url, Target<'a>)>,
    anchors: FxHashMap<(usize, &'a str), Target<'a>>,
    /// Names of dynamic anchors, each with the resources that have it.
    dynamic: FxHashMap<&'a str, Vec<usize>>,
    /// Resources of schemas that do not belong to the document's own.
    within: FxHashMap<*const Value, usize>,
}

impl<'a> References<'a> {
    pub(super) fn new(root: &'a Value) -> Self {
        let mut found = Self {
            resources: Vec::new(),
            anchors: FxHashMap::default(),
            dynamic: FxHashMap::default(),
            within: FxHashMap::default(),
        };
        let url = Url::parse(PLACE).expect("the constant is a URL");
        found.resources.push((url, Target { schema: root, place: String::new(), resource: 0 }));
        found.collect(root, 0, &mut Vec::new());
        found
    }

    fn collect(&mut self, value: &'a Value, mut resource: usize, path: &mut Vec<String>) {
        let text = |key: &str| value.get(key).and_then(Value::as_str);
        let place =
            |path: &[String]| path.iter().fold(String::new(), |place, step| place + "/" + step);
        if let Some(id) = text("$id").or_else(|| text("id")).filter(|id| !id.starts_with('#'))
            && let Ok(mut url) = self.resources[resource].0.join(id)
        {
            url.set_fragment(None);
            if path.is_empty() {
                self.resources[0].0 = url;
            } else {
                resource = self.resources.len();
                let target = Target { schema: value, place: place(path), resource };
                self.resources.push((url, target));
            }
        }
        if resource != 0 {
            self.within.insert(std::ptr::from_ref(value), resource);
        }
        let old = text("$id").and_then(|id| id.strip_prefix('#'));
        for name in [text("$anchor"), text("$dynamicAnchor"), old].into_iter().flatten() {
            let target = Target { schema: value, place: place(path), resource };
            self.anchors.entry((resource, name)).or_insert(target);
        }
        if let Some(name) = text("$dynamicAnchor") {
            self.dynamic.entry(name).or_default().push(resource);
        }
        let mut inside = |key: String, item: &'a Value| {
            path.push(key);
            self.collect(item, resource, path);
            path.pop();
        };
        match value {
            Value::Array(items) => {
                items.iter().enumerate().for_each(|(i, item)| inside(i.to_string(), item));
            }
            Value::Object(members) => {
                for (key, item) in members {
                    // Values, not schemas.
                    if !matches!(key.as_str(), "const" | "enum" | "default" | "examples") {
                        inside(escaped(key), item);
                    }
                }
            }
            _ => {}
        }
    }

    /// What `reference`, found in `resource`, leads to, if that is in the document.
    pub(super) fn resolve(&self, resource: usize, reference: &str) -> Option<Target<'a>> {
        let (url, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let resource = if url.is_empty() {
            resource
        } else {
            let url = self.resources[resource].0.join(url).ok()?;
            self.resources.iter().position(|(known, _)| *known == url)?
        };
        let fragment = percent_decode(fragment);
        if !fragment.is_empty() && !fragment.starts_with('/') {
            return self.anchors.get(&(resource, fragment.as_ref())).cloned();
        }
        let root = &self.resources[resource].1;
        let schema = root.schema.pointer(&fragment)?;
        let place = format!("{}{fragment}", root.place);
        let resource = self.resource_of(schema).unwrap_or(resource);
        Some(Target { schema, place, resource })
    }

    /// The resource that a schema belongs to, unless that is the document.
    pub(super) fn resource_of(&self, schema: &Value) -> Option<usize> {
        self.within.get(&std::ptr::from_ref(schema)).copied()
    }

    /// What a `$dynamicRef` leads to. The document's own anchor is the outermost on every way to
    /// it. Between several others the way would decide: then there is none, and nothing is
    /// checked there.
    pub(super) fn resolve_dynamic(&self, resource: usize, reference: &str) -> Option<Target<'a>> {
        let target = self.resolve(resource, reference)?;
        let name = reference.split_once('#').map_or("", |(_, name)| name);
        if target.schema.get("$dynamicAnchor").and_then(Value::as_str) != Some(name) {
            return Some(target);
        }
        match self.dynamic.get(name).map(Vec::as_slice) {
            Some(having) if having.contains(&0) => self.anchors.get(&(0, name)).cloned(),
            Some([_]) => Some(target),
            _ => None,
        }
    }

    /// What a `$recursiveRef` (2019) leads to.
    pub(super) fn resolve_recursive(&self, resource: usize) -> Target<'a> {
        let moves = |at: usize| {
            self.resources[at].1.schema.get("$recursiveAnchor") == Some(&Value::Bool(true))
        };
        let at = if moves(resource) && moves(0) { 0 } else { resource };
        self.resources[at].1.clone()
    }
}

/// A key as a step of a JSON pointer.
pub(super) fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}
