//! Wire bytes to Python objects.

use codemode_wire::{Decoder, Event, MAX_DEPTH, WireError};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString};

use crate::errors::ProtocolError;

/// Levels that a value may have besides [`MAX_DEPTH`]: output items wrap what the guest gave.
const WRAPPING: usize = 2;

/// Why there is no object.
#[derive(Debug)]
pub(crate) enum DecodeError {
    /// The bytes are wrong.
    Wire(WireError),
    /// An integer is longer than the interpreter converts (`sys.set_int_max_str_digits`).
    Digits(usize),
    /// The interpreter failed, out of memory for example.
    Python(PyErr),
}

impl From<WireError> for DecodeError {
    fn from(e: WireError) -> Self {
        Self::Wire(e)
    }
}

impl From<PyErr> for DecodeError {
    fn from(e: PyErr) -> Self {
        Self::Python(e)
    }
}

impl DecodeError {
    fn into_py(self, wrap: fn(String) -> PyErr) -> PyErr {
        match self {
            Self::Wire(e) => wrap(e.to_string()),
            Self::Digits(n) => wrap(format!("an integer of {n} digits is too large for Python")),
            Self::Python(e) => e,
        }
    }

    /// The error for bytes that a worker sent.
    pub(crate) fn into_protocol_error(self) -> PyErr {
        self.into_py(ProtocolError::new_err)
    }
}

/// One wire value as a Python object; `ValueError` if `data` is not exactly one value.
#[pyfunction]
pub(crate) fn decode<'py>(py: Python<'py>, data: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    value(py, data).map_err(|e| e.into_py(PyValueError::new_err))
}

/// Reads `data`, which must be exactly one value.
pub(crate) fn value<'py>(py: Python<'py>, data: &[u8]) -> Result<Bound<'py, PyAny>, DecodeError> {
    counted(py, data).map(|(out, _)| out)
}

/// As [`value`]; and of how many values it is made.
pub(crate) fn counted<'py>(
    py: Python<'py>,
    data: &[u8],
) -> Result<(Bound<'py, PyAny>, usize), DecodeError> {
    let mut reader = Reader { py, wire: Decoder::new(data), keys: Keys::default() };
    let out = reader.value(0)?;
    if reader.wire.is_done() {
        Ok((out, reader.wire.values()))
    } else {
        Err(WireError::Malformed("bytes after a value").into())
    }
}

struct Reader<'py, 'a> {
    py: Python<'py>,
    wire: Decoder<'a>,
    keys: Keys<'py, 'a>,
}

impl<'py> Reader<'py, '_> {
    fn value(&mut self, depth: usize) -> Result<Bound<'py, PyAny>, DecodeError> {
        let py = self.py;
        Ok(match self.wire.next_event()? {
            Event::Null => py.None().into_bound(py),
            Event::Bool(v) => PyBool::new(py, v).to_owned().into_any(),
            Event::Int(v) => PyInt::new(py, v).into_any(),
            Event::BigInt(digits) => big_int(py, digits)?,
            Event::Float(v) => PyFloat::new(py, v).into_any(),
            Event::String(v) => PyString::new(py, v).into_any(),
            Event::Array(n) => {
                check_depth(depth)?;
                // Not `n` at once: a count is a promise, and costs its sender one byte each.
                let mut items = Vec::with_capacity(n.min(1024));
                for _ in 0..n {
                    items.push(self.value(depth + 1)?);
                }
                PyList::new(py, items)?.into_any()
            }
            Event::Object(n) => {
                check_depth(depth)?;
                let dict = PyDict::new(py);
                for _ in 0..n {
                    let key = self.wire.key()?;
                    let key = self.keys.get(py, key);
                    dict.set_item(key, self.value(depth + 1)?)?;
                }
                dict.into_any()
            }
        })
    }
}

fn check_depth(depth: usize) -> Result<(), WireError> {
    if depth < MAX_DEPTH + WRAPPING { Ok(()) } else { Err(WireError::TooDeep) }
}

/// The interpreter's own limit on digits holds: the conversion is quadratic.
#[cold]
fn big_int<'py>(py: Python<'py>, digits: &str) -> Result<Bound<'py, PyAny>, DecodeError> {
    py.get_type::<PyInt>().call1((digits,)).map_err(|e| {
        if e.is_instance_of::<PyValueError>(py) {
            DecodeError::Digits(digits.trim_start_matches('-').len())
        } else {
            e.into()
        }
    })
}

/// Rows repeat their keys: a small direct-mapped cache spares a new `str` and its hash for each.
struct Keys<'py, 'a>([Option<(&'a str, Bound<'py, PyString>)>; Keys::SLOTS]);

impl Default for Keys<'_, '_> {
    fn default() -> Self {
        Self([const { None }; Self::SLOTS])
    }
}

impl<'py, 'a> Keys<'py, 'a> {
    const SLOTS: usize = 64;
    const LONGEST: usize = 64;

    fn get(&mut self, py: Python<'py>, key: &'a str) -> Bound<'py, PyString> {
        if key.len() > Self::LONGEST {
            return PyString::new(py, key);
        }
        let hash = key.bytes().fold(0_usize, |h, b| h.wrapping_mul(31).wrapping_add(b.into()));
        let slot = &mut self.0[hash % Self::SLOTS];
        match slot {
            Some((cached, text)) if *cached == key => text.clone(),
            _ => slot.insert((key, PyString::new(py, key))).1.clone(),
        }
    }
}
