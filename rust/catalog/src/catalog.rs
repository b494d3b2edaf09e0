//! One catalog: its hints, names and search.

use std::sync::OnceLock;

use serde_json::Value;

use crate::index::{Line, QuickIndex, quick_index};
use crate::names::{Lookup, Names, SafeName, safe_names};
use crate::parse_schema;
use crate::schema::{INPUT_HINT_CHARS, OUTPUT_HINT_CHARS, input_hint, output_hint};
use crate::search::{Document, SearchIndex};

/// One tool, as it is handed over. Schemas are JSON text.
#[derive(Clone, Debug, Default)]
pub struct Entry {
    /// Exact id.
    pub id: String,
    /// Tool name.
    pub name: String,
    /// Label shown to people.
    pub label: Option<String>,
    /// Description.
    pub description: String,
    /// `mcp`, `client`, or the word for native tools.
    pub source: String,
    /// Schema of the input.
    pub parameters: Option<String>,
    /// Schema of the output.
    pub output: Option<String>,
}

/// What a compact entry says of a tool's input and output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hints {
    /// `unknown` for tools that are not native; their schemas are not looked at.
    pub input: String,
    /// Only for native tools whose output is declared, closed and short enough.
    pub output: Option<String>,
}

/// What is kept of a tool. Schemas are not: a catalog may hold many megabytes of them.
#[derive(Debug)]
struct Tool {
    id: String,
    name: String,
    label: String,
    description: String,
    parameter_names: String,
    native: bool,
}

/// An immutable catalog. The order of its entries is the order of ties, so it should be that of
/// the ids.
#[derive(Debug)]
pub struct Catalog {
    tools: Vec<Tool>,
    hints: Vec<Hints>,
    names: OnceLock<Names>,
    search: OnceLock<SearchIndex>,
}

impl Catalog {
    /// Reads the entries and makes their hints; each schema is parsed once and let go.
    pub fn new(entries: impl IntoIterator<Item = Entry>) -> Self {
        let (tools, hints) = entries.into_iter().map(read).unzip();
        Self { tools, hints, names: OnceLock::new(), search: OnceLock::new() }
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.tools.len()
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// The id at a position.
    pub fn id(&self, at: usize) -> &str {
        &self.tools[at].id
    }

    /// Hints of every entry, in order.
    pub fn hints(&self) -> &[Hints] {
        &self.hints
    }

    /// Positions of at most `limit` tools, see [`SearchIndex::search`].
    pub fn search(&self, query: &str, limit: usize) -> Vec<usize> {
        self.search.get_or_init(|| self.build_search()).search(query, limit)
    }

    /// Looks an id or name up, see [`Names::resolve`].
    pub fn resolve(&self, id_or_name: &str) -> Lookup {
        self.names().resolve(id_or_name)
    }

    /// Up to three ids close to `id_or_name`: by spelling, else by what they are about.
    pub fn suggest(&self, id_or_name: &str) -> Vec<&str> {
        let mut found = self.names().suggest(id_or_name);
        if found.is_empty() && !id_or_name.trim().is_empty() {
            found = self.search(id_or_name, 3);
        }
        found.into_iter().map(|at| self.id(at)).collect()
    }

    /// Convenience names, see [`safe_names`].
    pub fn safe_names(&self, reserved: &[String]) -> Vec<SafeName> {
        safe_names(self.tools.iter().map(|tool| tool.name.as_str()), reserved)
    }

    /// The quick index of the native tools, see [`quick_index`].
    pub fn quick_index(&self, budget: usize) -> QuickIndex {
        let tools = self.tools.iter().zip(&self.hints).filter(|(tool, _)| tool.native);
        let lines: Vec<Line<'_>> = tools
            .map(|(tool, hints)| Line {
                id: &tool.id,
                input: &hints.input,
                output: hints.output.as_deref(),
            })
            .collect();
        quick_index(&lines, budget)
    }

    fn names(&self) -> &Names {
        self.names.get_or_init(|| {
            Names::new(self.tools.iter().map(|tool| (tool.id.as_str(), tool.name.as_str())))
        })
    }

    fn build_search(&self) -> SearchIndex {
        SearchIndex::build(self.tools.iter().map(|tool| Document {
            id: &tool.id,
            name: &tool.name,
            label: &tool.label,
            description: &tool.description,
            parameters: &tool.parameter_names,
        }))
    }
}

fn read(entry: Entry) -> (Tool, Hints) {
    let native = !matches!(entry.source.as_str(), "mcp" | "client");
    let mut hints = Hints { input: "unknown".into(), output: None };
    let mut parameter_names = String::new();
    if native {
        if let Some(text) = &entry.parameters {
            let schema = parse_schema(text);
            hints.input = input_hint(&schema, INPUT_HINT_CHARS);
            parameter_names = names_of(&schema);
        }
        if let Some(text) = &entry.output {
            hints.output = output_hint(&parse_schema(text), OUTPUT_HINT_CHARS);
        }
    }
    let tool = Tool {
        id: entry.id,
        name: entry.name,
        label: entry.label.unwrap_or_default(),
        description: entry.description,
        parameter_names,
        native,
    };
    (tool, hints)
}

/// Names of the outermost parameters, as words.
fn names_of(schema: &Value) -> String {
    const MOST: usize = 64;
    let properties = schema.get("properties").and_then(Value::as_object);
    properties
        .into_iter()
        .flat_map(|properties| properties.keys().take(MOST))
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(id: &str, source: &str) -> Entry {
        Entry {
            id: id.into(),
            name: id.rsplit(':').next().unwrap_or("").into(),
            source: source.into(),
            parameters: Some(
                r#"{"type":"object","properties":{"needle":{"type":"string"}}}"#.into(),
            ),
            output: Some(r#"{"type":"number"}"#.into()),
            ..Entry::default()
        }
    }

    #[test]
    fn only_native_tools_have_hints_and_lines() {
        let sources = [("client:app:pick", "client"), ("host:x:run", "host"), ("mcp:s:t", "mcp")];
        let catalog = Catalog::new(sources.map(|(id, source)| entry(id, source)));
        let inputs: Vec<&str> = catalog.hints().iter().map(|h| h.input.as_str()).collect();
        assert_eq!(inputs, ["unknown", "{ needle?: string }", "unknown"]);
        assert_eq!(catalog.hints()[1].output.as_deref(), Some("number"));
        assert_eq!(catalog.hints()[0].output, None);
        let index = catalog.quick_index(8000);
        assert_eq!(index.text, "- \"host:x:run\" { needle?: string } -> number");
        assert_eq!(catalog.search("needle", 8), [1]);
    }

    #[test]
    fn an_unknown_id_is_answered_by_spelling_or_by_meaning() {
        let mut about = entry("host:x:run", "host");
        about.description = "Deploys a release.".into();
        let catalog = Catalog::new([about, entry("host:x:write", "host")]);
        assert_eq!(catalog.suggest("file_write"), ["host:x:write"]);
        assert_eq!(catalog.suggest("deployment"), ["host:x:run"]);
        assert!(catalog.suggest(" ").is_empty());
    }
}
