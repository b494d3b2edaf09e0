//! What stands for a Python object that is not itself of a JSON type.

use pyo3::exceptions::{PyException, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{
    PyBool, PyByteArray, PyBytes, PyDict, PyFloat, PyFrozenSet, PyInt, PyIterator, PyList,
    PyMapping, PyMemoryView, PySet, PyString, PyTuple, PyType,
};

use crate::path::{Refused, type_name};

/// A value to write in place of an object.
pub(crate) enum Stand<'py> {
    Text(Bound<'py, PyString>),
    Int(Bound<'py, PyInt>),
    Float(f64),
    Dict(Bound<'py, PyDict>),
    List(Bound<'py, PyList>),
    Tuple(Bound<'py, PyTuple>),
    /// Another object, which may in turn need a stand-in.
    Object(Bound<'py, PyAny>),
}

/// How instances of a library class cross.
#[derive(Clone, Copy)]
enum Rule {
    /// What this method returns.
    Method(&'static str),
    /// `str(…)`.
    Str,
    /// Its attributes.
    Vars,
}

/// Items of a collection that are looked at: a `range` may have any number of them.
const MOST_ITEMS: usize = 1 << 24;

/// Module, class, rule. A class is looked up in the loaded modules: of a module that nobody
/// has imported there are no instances, and nothing here pays for importing it.
const LIBRARY: [(&str, &str, Rule); 12] = [
    ("datetime", "date", Rule::Method("isoformat")), // and its subclass datetime
    ("datetime", "time", Rule::Method("isoformat")),
    ("datetime", "timedelta", Rule::Method("total_seconds")),
    ("decimal", "Decimal", Rule::Str),
    ("uuid", "UUID", Rule::Str),
    ("pathlib", "PurePath", Rule::Str),
    ("fractions", "Fraction", Rule::Str),
    ("ipaddress", "_IPAddressBase", Rule::Str), // addresses, networks, interfaces
    ("collections", "UserString", Rule::Str),
    ("types", "SimpleNamespace", Rule::Vars),
    ("numpy", "generic", Rule::Method("tolist")),
    ("numpy", "ndarray", Rule::Method("tolist")),
];

/// What to write for `v`, which is not exactly of a plain type.
pub(crate) fn stand_for<'py>(v: &Bound<'py, PyAny>) -> Result<Stand<'py>, Refused> {
    let py = v.py();
    // Before the plain types: an enum may also be a `str` or an `int`.
    if is_loaded_instance(v, "enum", "Enum")? {
        return attribute(v, "value").map(Stand::Object);
    }
    if let Ok(s) = v.cast::<PyString>() {
        return Ok(Stand::Text(s.clone()));
    }
    if let Ok(i) = v.cast::<PyInt>() {
        return Ok(Stand::Int(i.clone()));
    }
    if let Ok(f) = v.cast::<PyFloat>() {
        return Ok(Stand::Float(f.value()));
    }
    if let Ok(d) = v.cast::<PyDict>() {
        return Ok(Stand::Dict(d.clone()));
    }
    if let Ok(l) = v.cast::<PyList>() {
        return Ok(Stand::List(l.clone()));
    }
    if let Ok(t) = v.cast::<PyTuple>() {
        return Ok(Stand::Tuple(t.clone()));
    }
    if v.is_instance_of::<PySet>() || v.is_instance_of::<PyFrozenSet>() {
        return items(v).and_then(sorted).map(|list| Stand::Object(list.into_any()));
    }
    if v.is_instance_of::<PyType>() {
        return Err(refuse(v));
    }
    // On the type: an object that answers to every name, like a mock, is no model.
    let class = v.get_type();
    if class.hasattr(intern!(py, "model_dump"))? {
        return model(v).map(Stand::Object);
    }
    if class.hasattr(intern!(py, "__dataclass_fields__"))? {
        return data_class(v).map(Stand::Object);
    }
    if class.hasattr(intern!(py, "__attrs_attrs__"))? {
        return fields(v, &attribute(v, "__attrs_attrs__")?).map(Stand::Object);
    }
    for (module, class, rule) in LIBRARY {
        if is_loaded_instance(v, module, class)? {
            return match rule {
                Rule::Method(name) => call(v, name).map(Stand::Object),
                Rule::Vars => attribute(v, "__dict__").map(Stand::Object),
                Rule::Str => v.str().map(Stand::Text).map_err(|e| Refused::raised(v, "str()", e)),
            };
        }
    }
    if v.is_instance_of::<PyBytes>()
        || v.is_instance_of::<PyByteArray>()
        || v.is_instance_of::<PyMemoryView>()
    {
        return Err(Refused::type_(format!(
            "binary data ({}) cannot cross; return text, base64 text, or a path or URL to it",
            type_name(v)
        )));
    }
    if v.is_instance_of::<PyMapping>() {
        let dict = py.get_type::<PyDict>().call1((v,));
        return dict.map(Stand::Object).map_err(|e| Refused::raised(v, "dict()", e));
    }
    // A view first: one of keys counts as a set too, but has an order.
    for class in ["MappingView", "Sequence", "Set"] {
        if is_loaded_instance(v, "collections.abc", class)? {
            let list = items(v)?;
            return if class == "Set" { sorted(list) } else { Ok(list) }
                .map(|l| Stand::Object(l.into_any()));
        }
    }
    Err(refuse(v))
}

/// The key of an object member, as `json.dumps` writes it.
pub(crate) fn key<'py>(k: &Bound<'py, PyAny>) -> Result<Bound<'py, PyString>, Refused> {
    let py = k.py();
    if let Ok(s) = k.cast::<PyString>() {
        return Ok(s.clone());
    }
    if let Ok(b) = k.cast::<PyBool>() {
        let text = if b.is_true() { intern!(py, "true") } else { intern!(py, "false") };
        return Ok(text.clone());
    }
    if let Ok(i) = k.cast::<PyInt>() {
        return digits(i);
    }
    if let Ok(f) = k.cast::<PyFloat>() {
        let f = f.value();
        return Ok(match f {
            _ if f.is_nan() => intern!(py, "NaN").clone(),
            f64::INFINITY => intern!(py, "Infinity").clone(),
            f64::NEG_INFINITY => intern!(py, "-Infinity").clone(),
            _ => PyFloat::new(py, f).repr()?,
        });
    }
    if k.is_none() {
        return Ok(intern!(py, "null").clone());
    }
    Err(Refused::type_(format!(
        "a {} object cannot be a key; use strings (numbers, booleans and None become strings)",
        type_name(k)
    )))
}

/// Decimal digits. The interpreter refuses to convert very long integers
/// (`sys.set_int_max_str_digits`), because that takes quadratic time.
pub(crate) fn digits<'py>(i: &Bound<'py, PyInt>) -> Result<Bound<'py, PyString>, Refused> {
    let py = i.py();
    // Of the base type: a subclass may print itself differently.
    let text = py.get_type::<PyInt>().call_method1(intern!(py, "__repr__"), (i,));
    let text = text.map_err(|e| {
        if e.is_instance_of::<PyValueError>(py) {
            Refused::value("an integer with so many digits cannot cross; return a string".into())
        } else {
            e.into()
        }
    })?;
    Ok(text.cast_into::<PyString>().map_err(PyErr::from)?)
}

fn refuse(v: &Bound<'_, PyAny>) -> Refused {
    let name = type_name(v);
    let instead = match name.as_str() {
        "coroutine" => "it was not awaited",
        "async_generator" => "return a list of its items",
        _ if v.cast::<PyIterator>().is_ok() => "return a list of its items",
        _ => {
            "return dicts, lists, strings, numbers, booleans, None, dataclasses or pydantic models"
        }
    };
    let what = if v.is_instance_of::<PyType>() { "a class" } else { &format!("a {name} object") };
    Refused::type_(format!("{what} cannot be turned into JSON; {instead}"))
}

fn is_loaded_instance(v: &Bound<'_, PyAny>, module: &str, class: &str) -> PyResult<bool> {
    static MODULES: PyOnceLock<Py<PyDict>> = PyOnceLock::new();
    let py = v.py();
    let modules = MODULES.get_or_try_init(py, || {
        Ok::<_, PyErr>(py.import("sys")?.getattr("modules")?.cast_into::<PyDict>()?.unbind())
    })?;
    match modules.bind(py).get_item(module)? {
        // A module that is being imported may not have the class yet.
        Some(module) => match module.getattr_opt(class)? {
            Some(class) => v.is_instance(&class),
            None => Ok(false),
        },
        None => Ok(false),
    }
}

fn attribute<'py>(v: &Bound<'py, PyAny>, name: &str) -> Result<Bound<'py, PyAny>, Refused> {
    v.getattr(name).map_err(|e| Refused::raised(v, &format!("the attribute {name}"), e))
}

fn call<'py>(v: &Bound<'py, PyAny>, name: &str) -> Result<Bound<'py, PyAny>, Refused> {
    v.call_method0(name).map_err(|e| Refused::raised(v, &format!("{name}()"), e))
}

fn model<'py>(v: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>, Refused> {
    let py = v.py();
    let mode = PyDict::new(py);
    mode.set_item(intern!(py, "mode"), intern!(py, "json"))?;
    // By the names of its schema, which are also those that it reads.
    if v.get_type().hasattr(intern!(py, "__pydantic_serializer__"))? {
        mode.set_item(intern!(py, "by_alias"), true)?;
    }
    v.call_method(intern!(py, "model_dump"), (), Some(&mode))
        .map_err(|e| Refused::raised(v, "model_dump()", e))
}

fn data_class<'py>(v: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>, Refused> {
    let of = v.py().import(intern!(v.py(), "dataclasses"))?;
    fields(v, &of.call_method1(intern!(v.py(), "fields"), (v,))?)
}

/// The attributes of `v` whose names `described` has.
fn fields<'py>(
    v: &Bound<'py, PyAny>,
    described: &Bound<'py, PyAny>,
) -> Result<Bound<'py, PyAny>, Refused> {
    let py = v.py();
    let dict = PyDict::new(py);
    for field in described.try_iter()? {
        let name =
            field?.getattr(intern!(py, "name"))?.cast_into::<PyString>().map_err(PyErr::from)?;
        dict.set_item(&name, attribute(v, &name.to_string_lossy())?)?;
    }
    Ok(dict.into_any())
}

/// As many items as it says that it has.
fn items<'py>(v: &Bound<'py, PyAny>) -> Result<Bound<'py, PyList>, Refused> {
    let n = v.len().map_err(|e| Refused::raised(v, "len()", e))?;
    if n > MOST_ITEMS {
        return Err(Refused::value(format!("a {} of {n} items cannot cross", type_name(v))));
    }
    let list = PyList::empty(v.py());
    for item in v.try_iter().map_err(|e| Refused::raised(v, "iter()", e))? {
        if list.len() == n {
            return Err(Refused::changed());
        }
        list.append(item.map_err(|e| Refused::raised(v, "iter()", e))?)?;
    }
    Ok(list)
}

/// In ascending order if the items have one, so that equal sets are equal bytes.
fn sorted(list: Bound<'_, PyList>) -> Result<Bound<'_, PyList>, Refused> {
    match list.sort() {
        // What a failed sort leaves is some order of all elements.
        Err(e) if !e.is_instance_of::<PyException>(list.py()) => Err(e.into()),
        _ => Ok(list),
    }
}
