//! Full-text search over the catalog: BM25 over weighted fields, built once, read often.

// Counts and lengths become scores; a few digits of them are enough.
#![allow(clippy::cast_precision_loss)]

mod stem;
mod token;

use rustc_hash::FxHashMap;

/// Characters of one description that are indexed.
const MAX_DESCRIPTION: usize = 4096;
/// Terms of a query that are looked at.
const MAX_QUERY_TERMS: usize = 32;
/// Words of the vocabulary that one query term may stand for by prefix.
const MAX_EXPANSIONS: usize = 24;
/// Saturation of BM25: what repetition of a term still adds.
const K1: f32 = 1.2;
/// Weight of document length in BM25.
const B: f32 = 0.5;

/// Words that say nothing of what is wanted.
const STOP_WORDS: &[&str] = &[
    "a", "an", "and", "any", "are", "as", "at", "be", "by", "can", "do", "does", "for", "from",
    "how", "i", "in", "is", "it", "its", "me", "mi", "my", "of", "on", "or", "please", "pleas",
    "some", "som", "that", "the", "thi", "this", "to", "tool", "us", "use", "want", "what", "with",
    "you", "your",
];

/// What of one tool is searched.
#[derive(Clone, Copy, Debug, Default)]
pub struct Document<'a> {
    /// Exact id.
    pub id: &'a str,
    /// Tool name.
    pub name: &'a str,
    /// Label shown to people.
    pub label: &'a str,
    /// Description.
    pub description: &'a str,
    /// Names of the parameters, in any separators.
    pub parameters: &'a str,
}

#[derive(Clone, Copy)]
struct Posting {
    doc: u32,
    /// Saturated, length-normalised frequency; multiplied by the rarity of the term.
    impact: f32,
}

/// An immutable index. Results are positions in the order in which it was built; of equal ones
/// the earlier comes first, so building in order of ids gives ties by id.
pub struct SearchIndex {
    docs: u32,
    /// Terms in order, for prefixes.
    vocabulary: Vec<(Box<str>, std::ops::Range<u32>)>,
    postings: Vec<Posting>,
    /// Ids and names as given, and folded to letters and digits, with their documents.
    exact: FxHashMap<Box<str>, Vec<u32>>,
    folded: FxHashMap<Box<str>, Vec<u32>>,
}

impl std::fmt::Debug for SearchIndex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SearchIndex")
            .field("docs", &self.docs)
            .field("terms", &self.vocabulary.len())
            .finish_non_exhaustive()
    }
}

impl SearchIndex {
    /// Indexes `documents`.
    pub fn build<'a>(documents: impl IntoIterator<Item = Document<'a>>) -> Self {
        Builder::default().build(documents)
    }

    /// At most `limit` positions, best first. A blank query gives the first ones; one that
    /// matches nothing gives none.
    pub fn search(&self, query: &str, limit: usize) -> Vec<usize> {
        let query = query.trim();
        if query.is_empty() {
            return (0..self.docs as usize).take(limit).collect();
        }
        let mut scores = Scores::new(self.docs as usize);
        let words = query_words(query);
        for (word, group) in words.iter().zip(0u32..) {
            self.score_word(word, group, &mut scores);
        }
        scores.weigh_by_coverage(words.len());
        self.score_names(query, &mut scores);
        scores.best(limit)
    }

    fn score_names(&self, query: &str, scores: &mut Scores) {
        const EXACT: f32 = 1e6;
        const FOLDED: f32 = 1e5;
        for (table, key, bonus) in
            [(&self.exact, query, EXACT), (&self.folded, &*fold_name(query), FOLDED)]
        {
            for doc in table.get(key).into_iter().flatten() {
                scores.add(*doc, bonus, 0);
            }
        }
    }

    fn score_word(&self, word: &QueryWord, group: u32, scores: &mut Scores) {
        let mut found = false;
        for (term, weight) in &word.terms {
            if let Ok(at) = self.vocabulary.binary_search_by(|(known, _)| (**known).cmp(term)) {
                self.add(at as u32, *weight, group, scores);
                found = true;
            }
            found |= self.add_prefixed(term, *weight * 0.4, group, scores);
        }
        if found {
            return;
        }
        // Nothing begins with it. Endings of other languages and slips of the pen are met by
        // shorter beginnings, then by parts and near spellings.
        for (term, weight) in &word.terms {
            let chars: Vec<(usize, char)> = term.char_indices().collect();
            if chars.len() < 4 {
                continue;
            }
            let shortest = (chars.len() * 2 / 3).max(3);
            let met = (shortest..chars.len())
                .rev()
                .any(|n| self.add_prefixed(&term[..chars[n].0], weight * 0.25, group, scores));
            if !met {
                self.add_similar(term, weight * 0.2, group, scores);
            }
        }
    }

    fn add_prefixed(&self, prefix: &str, weight: f32, group: u32, scores: &mut Scores) -> bool {
        if prefix.len() < 2 {
            return false;
        }
        let from = self.vocabulary.partition_point(|(term, _)| &**term <= prefix);
        let mut any = false;
        for (i, (term, _)) in self.vocabulary[from..].iter().take(MAX_EXPANSIONS).enumerate() {
            if !term.starts_with(prefix) {
                break;
            }
            // The nearer in length, the likelier it is meant.
            let share = prefix.len() as f32 / term.len() as f32;
            self.add((from + i) as u32, weight * share, group, scores);
            any = true;
        }
        any
    }

    fn add_similar(&self, term: &str, weight: f32, group: u32, scores: &mut Scores) {
        let mut left = MAX_EXPANSIONS;
        for (i, (known, _)) in self.vocabulary.iter().enumerate() {
            let near = known.len().abs_diff(term.len()) <= 1 && within_one_edit(known, term);
            if near || (known.len() > term.len() && known.contains(term)) {
                self.add(i as u32, weight, group, scores);
                left -= 1;
                if left == 0 {
                    return;
                }
            }
        }
    }

    fn add(&self, term: u32, weight: f32, group: u32, scores: &mut Scores) {
        let range = &self.vocabulary[term as usize].1;
        let postings = &self.postings[range.start as usize..range.end as usize];
        let (all, with) = (self.docs as f32, postings.len() as f32);
        let rarity = (1.0 + (all - with + 0.5) / (with + 0.5)).ln();
        for posting in postings {
            scores.add(posting.doc, weight * rarity * posting.impact, group);
        }
    }
}

/// One word of a query: its terms with their weights.
struct QueryWord {
    terms: Vec<(String, f32)>,
}

fn query_words(query: &str) -> Vec<QueryWord> {
    let end = query.char_indices().nth(512).map_or(query.len(), |(at, _)| at);
    let mut words: Vec<QueryWord> = Vec::new();
    let mut seen: Vec<String> = Vec::new();
    let mut stopped: Vec<QueryWord> = Vec::new();
    for piece in query[..end].split_whitespace() {
        token::terms(piece, |term, whole| {
            if seen.len() >= MAX_QUERY_TERMS || seen.iter().any(|s| s == term) {
                return;
            }
            // Of a run of Chinese the pairs are asked for, not the single characters.
            if whole && term.chars().nth(1).is_none() {
                return;
            }
            seen.push(term.to_owned());
            let word = QueryWord { terms: vec![(term.to_owned(), 1.0)] };
            match words.last_mut() {
                // The whole beside its parts: an extra for those who have it, not a word more.
                Some(last) if whole => last.terms.push((term.to_owned(), 0.5)),
                _ if STOP_WORDS.contains(&term) => stopped.push(word),
                _ => words.push(word),
            }
        });
    }
    if words.is_empty() { stopped } else { words }
}

/// Letters and digits of a name, lower case: `Get-User` and `getUser` are one.
fn fold_name(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Whether one insertion, deletion, substitution or swap of neighbours makes `a` of `b`.
fn within_one_edit(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let same = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let (a, b) = (&a[same..], &b[same..]);
    match a.len().cmp(&b.len()) {
        std::cmp::Ordering::Less => *a == b[1..],
        std::cmp::Ordering::Greater => a[1..] == *b,
        std::cmp::Ordering::Equal => {
            a.is_empty()
                || a[1..] == b[1..]
                || (a.len() > 1 && a[0] == b[1] && a[1] == b[0] && a[2..] == b[2..])
        }
    }
}

struct Scores {
    of: Vec<f32>,
    /// Which words of the query a document answers, one bit each.
    words: Vec<u64>,
    touched: Vec<u32>,
}

impl Scores {
    fn new(docs: usize) -> Self {
        Self { of: vec![0.0; docs], words: vec![0; docs], touched: Vec::new() }
    }

    fn add(&mut self, doc: u32, score: f32, word: u32) {
        let at = doc as usize;
        if self.words[at] == 0 {
            self.touched.push(doc);
        }
        self.of[at] += score;
        self.words[at] |= 1 << word.min(63);
    }

    /// A tool that answers all words of a query is better than one that answers one of them often.
    fn weigh_by_coverage(&mut self, words: usize) {
        for doc in &self.touched {
            let covered = self.words[*doc as usize].count_ones() as f32 / words.max(1) as f32;
            self.of[*doc as usize] *= covered;
        }
    }

    fn best(mut self, limit: usize) -> Vec<usize> {
        let of = &self.of;
        let order = |a: &u32, b: &u32| of[*b as usize].total_cmp(&of[*a as usize]).then(a.cmp(b));
        if limit < self.touched.len() {
            if limit == 0 {
                return Vec::new();
            }
            self.touched.select_nth_unstable_by(limit - 1, order);
            self.touched.truncate(limit);
        }
        self.touched.sort_unstable_by(order);
        self.touched.into_iter().map(|doc| doc as usize).collect()
    }
}

#[derive(Default)]
struct Builder {
    terms: FxHashMap<Box<str>, u32>,
    /// Per term: document and weighted frequency, documents ascending.
    postings: Vec<Vec<Posting>>,
    lengths: Vec<f32>,
    exact: FxHashMap<Box<str>, Vec<u32>>,
    folded: FxHashMap<Box<str>, Vec<u32>>,
}

impl Builder {
    fn build<'a>(mut self, documents: impl IntoIterator<Item = Document<'a>>) -> SearchIndex {
        for (document, doc) in documents.into_iter().zip(0u32..) {
            self.lengths.push(0.0);
            let owner = document.id.strip_suffix(document.name).unwrap_or(document.id);
            self.field(doc, owner, 1.0);
            self.field(doc, document.name, 4.0);
            self.field(doc, document.label, 2.5);
            let description = document.description;
            let end = description.char_indices().nth(MAX_DESCRIPTION).map(|(at, _)| at);
            self.field(doc, &description[..end.unwrap_or(description.len())], 1.0);
            self.field(doc, document.parameters, 0.6);
            for key in [document.id, document.name] {
                push_once(&mut self.exact, key, doc);
                push_once(&mut self.folded, &fold_name(key), doc);
            }
        }
        self.finish()
    }

    fn field(&mut self, doc: u32, text: &str, weight: f32) {
        token::terms(text, |term, whole| {
            let weight = if whole { weight * 0.5 } else { weight };
            self.lengths[doc as usize] += weight;
            let next = self.postings.len() as u32;
            let id = if let Some(id) = self.terms.get(term) {
                *id
            } else {
                self.terms.insert(term.into(), next);
                self.postings.push(Vec::new());
                next
            };
            let list = &mut self.postings[id as usize];
            match list.last_mut() {
                Some(newest) if newest.doc == doc => newest.impact += weight,
                _ => list.push(Posting { doc, impact: weight }),
            }
        });
    }

    fn finish(self) -> SearchIndex {
        let docs = self.lengths.len();
        let average = (self.lengths.iter().sum::<f32>() / docs.max(1) as f32).max(1.0);
        let mut sorted: Vec<(Box<str>, u32)> = self.terms.into_iter().collect();
        sorted.sort_unstable();
        let mut postings = Vec::with_capacity(self.postings.iter().map(Vec::len).sum());
        let mut vocabulary = Vec::with_capacity(sorted.len());
        for (term, old) in sorted {
            let start = postings.len() as u32;
            postings.extend(self.postings[old as usize].iter().map(|p| {
                let length = self.lengths[p.doc as usize] / average;
                let impact = p.impact * (K1 + 1.0) / (p.impact + K1 * (1.0 - B + B * length));
                Posting { doc: p.doc, impact }
            }));
            vocabulary.push((term, start..postings.len() as u32));
        }
        SearchIndex {
            docs: docs as u32,
            vocabulary,
            postings,
            exact: self.exact,
            folded: self.folded,
        }
    }
}

fn push_once(table: &mut FxHashMap<Box<str>, Vec<u32>>, key: &str, doc: u32) {
    if key.is_empty() {
        return;
    }
    match table.get_mut(key) {
        Some(list) if list.last() == Some(&doc) => {}
        Some(list) => list.push(doc),
        None => {
            table.insert(key.into(), vec![doc]);
        }
    }
}
