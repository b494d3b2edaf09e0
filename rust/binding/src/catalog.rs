//! The catalog crate for Python: conversions and nothing else.

use codemode_catalog::mcp::{
    ServerDeclaration, ServerSummary, ToolDeclaration, mcp_index_dts, mcp_names, mcp_server_dts,
    mcp_signature,
};
use codemode_catalog::validate::Step;
use codemode_catalog::{Catalog, Entry, Json, Lookup, parse_schema, value_from_wire};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyList, PyMapping, PyString};

use crate::encode::encode;
use crate::text::lossy;

/// Bytes of one value that is checked against a schema.
const MAX_VALUE_BYTES: usize = 256 << 20;

/// Text of a stranger: lone surrogates become U+FFFD instead of an error, so that one description
/// cannot keep a whole catalog from being built.
struct Text(String);

impl<'py> FromPyObject<'_, 'py> for Text {
    type Error = PyErr;

    fn extract(obj: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let text = obj.cast::<PyString>()?;
        Ok(Self(lossy(&text)?.into_owned()))
    }
}

fn plain(text: Option<Text>) -> Option<String> {
    text.map(|text| text.0)
}

/// Adds everything here to the module.
pub(crate) fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<CatalogIndex>()?;
    m.add_class::<Validator>()?;
    m.add_function(wrap_pyfunction!(input_hint, m)?)?;
    m.add_function(wrap_pyfunction!(output_hint, m)?)?;
    m.add_function(wrap_pyfunction!(py_mcp_names, m)?)?;
    m.add_function(wrap_pyfunction!(py_mcp_index_dts, m)?)?;
    m.add_function(wrap_pyfunction!(py_mcp_server_dts, m)?)?;
    m.add_function(wrap_pyfunction!(py_mcp_signature, m)?)?;
    Ok(())
}

#[pyfunction]
#[pyo3(signature = (schema_json, max_chars = codemode_catalog::INPUT_HINT_CHARS), text_signature = "(schema_json, max_chars=300)")]
fn input_hint(schema_json: Text, max_chars: usize) -> String {
    codemode_catalog::input_hint(&parse_schema(&schema_json.0), max_chars)
}

#[pyfunction]
#[pyo3(signature = (schema_json, max_chars = codemode_catalog::OUTPUT_HINT_CHARS), text_signature = "(schema_json, max_chars=850)")]
fn output_hint(schema_json: Text, max_chars: usize) -> Option<String> {
    codemode_catalog::output_hint(&parse_schema(&schema_json.0), max_chars)
}

/// `(id, name, label, description, source, parameters_json, output_json)`.
type EntryTuple = (Text, Text, Option<Text>, Text, Text, Option<Text>, Option<Text>);

fn entry(item: &Bound<'_, PyAny>) -> PyResult<Entry> {
    let (id, name, label, description, source, parameters, output): EntryTuple = item.extract()?;
    Ok(Entry {
        id: id.0,
        name: name.0,
        label: plain(label),
        description: description.0,
        source: source.0,
        parameters: plain(parameters),
        output: plain(output),
    })
}

#[pyclass(frozen, module = "codemode._engine")]
struct CatalogIndex(Catalog);

#[pymethods]
impl CatalogIndex {
    #[new]
    fn new(entries: &Bound<'_, PyAny>) -> PyResult<Self> {
        // One at a time: all schemas together can be large.
        let mut failed = None;
        let read = entries.try_iter()?.map_while(|item| match item.and_then(|item| entry(&item)) {
            Ok(entry) => Some(entry),
            Err(error) => {
                failed = Some(error);
                None
            }
        });
        let catalog = Catalog::new(read);
        failed.map_or(Ok(Self(catalog)), Err)
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    fn search(&self, query: Text, limit: usize) -> Vec<usize> {
        self.0.search(&query.0, limit)
    }

    fn suggest(&self, id_or_name: Text) -> Vec<&str> {
        self.0.suggest(&id_or_name.0)
    }

    fn resolve<'py>(
        &self,
        py: Python<'py>,
        id_or_name: Text,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        Ok(match self.0.resolve(&id_or_name.0) {
            Lookup::Found(at) => Some(at.into_pyobject(py)?.into_any()),
            Lookup::Ambiguous(several) => Some(self.ids(&several).into_pyobject(py)?.into_any()),
            Lookup::Unknown => None,
        })
    }

    fn hints(&self) -> Vec<(&str, Option<&str>)> {
        self.0.hints().iter().map(|h| (h.input.as_str(), h.output.as_deref())).collect()
    }

    fn safe_names(&self, reserved: Vec<String>) -> Vec<(String, Option<usize>, Vec<&str>)> {
        let names = self.0.safe_names(&reserved).into_iter();
        names
            .map(|safe| match safe.tools[..] {
                [one] => (safe.name, Some(one), Vec::new()),
                ref several => {
                    let ids = self.ids(several);
                    (safe.name, None, ids)
                }
            })
            .collect()
    }

    fn quick_index(&self, budget: usize) -> (String, usize, usize) {
        let index = self.0.quick_index(budget);
        (index.text, index.shown, index.left_out)
    }
}

impl CatalogIndex {
    fn ids(&self, positions: &[usize]) -> Vec<&str> {
        positions.iter().map(|at| self.0.id(*at)).collect()
    }
}

#[pyclass(frozen, module = "codemode._engine")]
struct Validator(codemode_catalog::Validator);

#[pymethods]
impl Validator {
    #[new]
    fn new(schema_json: Text) -> PyResult<Self> {
        codemode_catalog::Validator::for_output(parse_schema(&schema_json.0))
            .map(Self)
            .map_err(PyValueError::new_err)
    }

    #[staticmethod]
    fn for_input(schema_json: Text) -> Self {
        Self(codemode_catalog::Validator::for_input(parse_schema(&schema_json.0)))
    }

    fn check_input<'py>(&self, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = value.py();
        let input = if value.is_none() { PyDict::new(py).into_any() } else { value.clone() };
        let mut checked = read(&input)?;
        let places = self.0.coerce(&mut checked);
        self.0.check_input(&checked).map_err(|e| PyValueError::new_err(e.to_string()))?;
        // The objects of the caller are kept as they are, so that integers of any size stay exact.
        replaced(&input, &places, 0)
    }

    fn check_output(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let checked = read(value)?;
        self.0.check_output(&checked).map_err(|e| PyValueError::new_err(e.to_string()))
    }
}

fn read(value: &Bound<'_, PyAny>) -> PyResult<Json> {
    let bytes = encode(value, MAX_VALUE_BYTES)?;
    value_from_wire(bytes.as_bytes()).map_err(|e| PyValueError::new_err(e.to_string()))
}

/// A copy of `value` in which the texts at `places` are what they say as JSON, and the numbers
/// there integers. All `places` go on from `value`, after as many steps as `depth`; each container
/// is copied once for them all.
fn replaced<'py>(
    value: &Bound<'py, PyAny>,
    places: &[Vec<Step>],
    depth: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let py = value.py();
    let Some((first, others)) = places.split_first() else { return Ok(value.clone()) };
    let Some(step) = first.get(depth) else {
        let meant = if value.is_instance_of::<PyString>() {
            py.import("json")?.call_method1("loads", (value,))?
        } else {
            py.get_type::<PyInt>().call1((value,))?
        };
        return replaced(&meant, others, depth);
    };
    let runs = places.chunk_by(|a, b| a.get(depth) == b.get(depth));
    if matches!(step, Step::Key(_)) {
        let copy = PyDict::new(py);
        copy.update(value.cast::<PyMapping>()?)?;
        for run in runs {
            let Some(Step::Key(key)) = run[0].get(depth) else { continue };
            copy.set_item(key, replaced(&copy.as_any().get_item(key)?, run, depth + 1)?)?;
        }
        return Ok(copy.into_any());
    }
    let copy = PyList::new(py, value.try_iter()?.collect::<PyResult<Vec<_>>>()?)?;
    for run in runs {
        let Some(Step::Index(at)) = run[0].get(depth) else { continue };
        copy.set_item(*at, replaced(&copy.get_item(*at)?, run, depth + 1)?)?;
    }
    Ok(copy.into_any())
}

/// `(key, alias)`.
type NamedTuple = (String, String);

#[pyfunction]
#[pyo3(name = "mcp_names")]
fn py_mcp_names(servers: Vec<(Text, Vec<Text>)>) -> Vec<(String, String, Vec<NamedTuple>)> {
    let servers: Vec<(String, Vec<String>)> = servers
        .into_iter()
        .map(|(name, tools)| (name.0, tools.into_iter().map(|tool| tool.0).collect()))
        .collect();
    mcp_names(&servers)
        .into_iter()
        .map(|names| {
            let tools = names.tools.into_iter().map(|tool| (tool.key, tool.alias)).collect();
            (names.server.key, names.server.alias, tools)
        })
        .collect()
}

#[pyfunction]
#[pyo3(name = "mcp_index_dts")]
fn py_mcp_index_dts(servers: Vec<(String, Text, Vec<String>, Option<Text>)>) -> String {
    let servers: Vec<ServerSummary> = servers
        .into_iter()
        .map(|(key, name, tools, unavailable)| ServerSummary {
            key,
            name: name.0,
            tools,
            unavailable: plain(unavailable),
        })
        .collect();
    mcp_index_dts(&servers)
}

/// `(key, name, description, input_json, output_json)`.
type ToolTuple = (String, Text, Text, Option<Text>, Option<Text>);

fn declaration((key, name, description, input, output): ToolTuple) -> ToolDeclaration {
    ToolDeclaration {
        key,
        name: name.0,
        description: description.0,
        input: plain(input),
        output: plain(output),
    }
}

#[pyfunction]
#[pyo3(name = "mcp_server_dts")]
#[pyo3(signature = (
    key,
    name,
    tools,
    *,
    resources = false,
    prompts = false,
    instructions = Text(String::new()),
    max_bytes = codemode_catalog::mcp::MAX_FILE_BYTES,
), text_signature = "(key, name, tools, *, resources=False, prompts=False, instructions='', max_bytes=262144)")]
fn py_mcp_server_dts(
    key: String,
    name: Text,
    tools: Vec<ToolTuple>,
    resources: bool,
    prompts: bool,
    instructions: Text,
    max_bytes: usize,
) -> String {
    let tools = tools.into_iter().map(declaration).collect();
    let server = ServerDeclaration {
        key,
        name: name.0,
        instructions: instructions.0,
        tools,
        resources,
        prompts,
    };
    mcp_server_dts(&server, max_bytes)
}

#[pyfunction]
#[pyo3(name = "mcp_signature")]
fn py_mcp_signature(tool: ToolTuple) -> String {
    mcp_signature(&declaration(tool))
}
