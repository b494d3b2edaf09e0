//! Names of tools: convenience names, lookup, suggestions.

use std::cmp::Reverse;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::text::{is_identifier, is_identifier_part, is_object_member};

/// Suggestions for an unknown id.
const SUGGESTIONS: usize = 3;
/// Characters of a name that are compared when looking for close ones.
const COMPARED: usize = 64;

/// A property of `tools`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SafeName {
    /// The identifier.
    pub name: String,
    /// Positions of the tools that have it: one where it can be called, more where it clashes.
    pub tools: Vec<usize>,
}

/// Convenience names of the tools called `names`, in order of the names.
///
/// A name counts if it is an identifier or becomes one when other characters are replaced by `_`,
/// and if it is none of `reserved` and no member of every object (`then`, `constructor`, …).
pub fn safe_names<'a>(
    names: impl IntoIterator<Item = &'a str>,
    reserved: &[String],
) -> Vec<SafeName> {
    let reserved: FxHashSet<&str> = reserved.iter().map(String::as_str).collect();
    let mut tools: FxHashMap<String, Vec<usize>> = FxHashMap::default();
    for (at, name) in names.into_iter().enumerate() {
        let safe: String =
            name.chars().map(|c| if is_identifier_part(c) { c } else { '_' }).collect();
        let blank = safe.bytes().all(|b| b == b'_');
        if blank || !is_identifier(&safe) || is_object_member(&safe) {
            continue;
        }
        if !reserved.contains(safe.as_str()) {
            tools.entry(safe).or_default().push(at);
        }
    }
    let mut out: Vec<SafeName> =
        tools.into_iter().map(|(name, tools)| SafeName { name, tools }).collect();
    out.sort_by(|a, b| a.name.cmp(&b.name));
    out
}

/// What an id or name given by a model means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// One tool, by its position.
    Found(usize),
    /// A name that several tools have.
    Ambiguous(Vec<usize>),
    /// Neither an id nor a name.
    Unknown,
}

/// Exact lookup by id, then by name. Case matters.
#[derive(Debug, Default)]
pub struct Names {
    listed: Vec<Box<str>>,
    by_id: FxHashMap<Box<str>, usize>,
    by_name: FxHashMap<Box<str>, Vec<usize>>,
}

impl Names {
    /// Takes ids and names in the order of the catalog.
    pub fn new<'a>(entries: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut out = Self::default();
        for (at, (id, name)) in entries.into_iter().enumerate() {
            out.listed.push(name.into());
            out.by_id.entry(id.into()).or_insert(at);
            out.by_name.entry(name.into()).or_default().push(at);
        }
        out
    }

    /// What `id_or_name` means.
    pub fn resolve(&self, id_or_name: &str) -> Lookup {
        if let Some(at) = self.by_id.get(id_or_name) {
            return Lookup::Found(*at);
        }
        match self.by_name.get(id_or_name).map(Vec::as_slice) {
            None => Lookup::Unknown,
            Some([at]) => Lookup::Found(*at),
            Some(several) => Lookup::Ambiguous(several.to_vec()),
        }
    }

    /// Up to three positions of tools that `id_or_name` may have meant, best first.
    pub fn suggest(&self, id_or_name: &str) -> Vec<usize> {
        let wanted = Spelling::of(last_part(id_or_name));
        if wanted.chars.is_empty() {
            return Vec::new();
        }
        let mut best: Vec<(Reverse<u32>, usize)> = Vec::new();
        for (at, name) in self.listed.iter().enumerate() {
            let floor = if best.len() < SUGGESTIONS { 0 } else { best[SUGGESTIONS - 1].0.0 };
            let score = wanted.likeness(&Spelling::of(name), floor);
            // Below this two names only share letters by chance.
            if score >= 450 && score > floor {
                let place = best.partition_point(|other| *other <= (Reverse(score), at));
                best.insert(place, (Reverse(score), at));
                best.truncate(SUGGESTIONS);
            }
        }
        best.into_iter().map(|(_, at)| at).collect()
    }
}

/// The tool name in something that looks like an id.
fn last_part(id: &str) -> &str {
    id.trim().rsplit([':', '.', '/']).find(|part| !part.is_empty()).unwrap_or("")
}

struct Spelling {
    /// Letters and digits, lower case.
    chars: Vec<char>,
    /// Words of the name, as ranges of `chars`.
    words: Vec<(usize, usize)>,
}

impl Spelling {
    fn of(name: &str) -> Self {
        let (mut chars, mut words) = (Vec::with_capacity(name.len().min(COMPARED)), Vec::new());
        let (mut start, mut lower) = (0, false);
        for c in name.chars().take(COMPARED) {
            if !c.is_alphanumeric() || (c.is_uppercase() && lower) {
                if start < chars.len() {
                    words.push((start, chars.len()));
                }
                start = chars.len();
            }
            if c.is_alphanumeric() {
                chars.extend(c.to_lowercase());
            }
            lower = c.is_lowercase();
        }
        if start < chars.len() {
            words.push((start, chars.len()));
        }
        Self { chars, words }
    }

    /// 0 to 1,000; 0 if it cannot be above `floor`.
    fn likeness(&self, other: &Self, floor: u32) -> u32 {
        let (a, b) = (&self.chars, &other.chars);
        if a == b {
            return 1000;
        }
        let common = self
            .words
            .iter()
            .filter(|w| other.words.iter().any(|o| self.chars[w.0..w.1] == other.chars[o.0..o.1]))
            .count();
        let total = (self.words.len() + other.words.len()).max(1);
        let by_words = (1900 * common / total) as u32;
        let longest = a.len().max(b.len()).max(1);
        let at_best = (1000 * (longest - a.len().abs_diff(b.len())) / longest) as u32;
        if at_best <= floor.max(by_words).max(449) {
            return by_words;
        }
        let by_letters = (1000 * (longest - distance(a, b)) / longest) as u32;
        by_words.max(by_letters)
    }
}

/// How many letters have to be put in, left out, changed, or swapped with their neighbour.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    let (mut last, mut next) = (row.clone(), row.clone());
    for (i, x) in a.iter().enumerate() {
        next[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let least = (row[j] + usize::from(x != y)).min(row[j + 1] + 1).min(next[j] + 1);
            let swapped = i > 0 && j > 0 && *x == b[j - 1] && a[i - 1] == *y;
            next[j + 1] = if swapped { least.min(last[j - 1] + 1) } else { least };
        }
        std::mem::swap(&mut last, &mut row);
        std::mem::swap(&mut row, &mut next);
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(ids: &[&'static str]) -> Names {
        Names::new(ids.iter().map(|id| (*id, id.rsplit(':').next().unwrap())))
    }

    #[test]
    fn c02_names_that_become_one_clash() {
        let got = safe_names(["get-user", "get_user", "get.user", "Read", "read"], &[]);
        let got: Vec<_> = got.iter().map(|n| (n.name.as_str(), n.tools.as_slice())).collect();
        assert_eq!(got, [("Read", &[3][..]), ("get_user", &[0, 1, 2]), ("read", &[4])]);
    }

    #[test]
    fn names_that_cannot_be_properties_are_left_out() {
        let reserved = ["search".to_owned()];
        let all =
            ["", "  ", "2fa", "then", "__proto__", "constructor", "search", "toString", "---"];
        assert!(safe_names(all, &reserved).is_empty());
        assert_eq!(safe_names(["delete", "наборы", "a b"], &reserved).len(), 3);
    }

    #[test]
    fn lookup_is_by_id_then_by_unique_name() {
        let names = names(&["a:x:read", "a:y:read", "a:y:Read", "a:y:write"]);
        assert_eq!(names.resolve("a:y:read"), Lookup::Found(1));
        assert_eq!(names.resolve("read"), Lookup::Ambiguous(vec![0, 1]));
        assert_eq!(names.resolve("Read"), Lookup::Found(2));
        assert_eq!(names.resolve("READ"), Lookup::Unknown);
    }

    #[test]
    fn c10_close_names_are_suggested() {
        let all = [
            "openclaw:core:edit",
            "openclaw:core:read",
            "openclaw:core:write",
            "openclaw:gmail:send_message",
            "openclaw:web:web_search",
        ];
        let names = names(&all);
        let ids = |query: &str| -> Vec<&str> {
            names.suggest(query).into_iter().map(|at| all[at]).collect()
        };
        assert_eq!(ids("file_write")[0], "openclaw:core:write");
        assert_eq!(ids("openclaw:core:writ")[0], "openclaw:core:write");
        assert_eq!(ids("WebSearch")[0], "openclaw:web:web_search");
        assert_eq!(ids("sendMessages")[0], "openclaw:gmail:send_message");
        assert_eq!(ids("READ")[0], "openclaw:core:read");
        assert_eq!(Names::new([("a:b:get", "get")]).suggest("gte"), [0]);
        assert!(ids("zzzzqq").is_empty());
        assert!(ids("").is_empty());
        assert!(ids(&"x".repeat(1_000_000)).is_empty());
    }
}
