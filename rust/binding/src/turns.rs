//! What a worker says at the end of a turn, as Python objects, and the limits of a leg.

use std::borrow::Cow;

use codemode_wire::{self as wire, FromWorker};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

use crate::decode;
use crate::errors::ProtocolError;

/// Limits and clock of one leg of a cell.
///
/// Times are nanoseconds of `monotonic_ns()`, sizes are bytes.
#[pyclass(frozen, get_all, module = "codemode._engine")]
#[derive(Clone, Copy)]
pub(crate) struct Leg {
    deadline_ns: u64,
    kill_ns: u64,
    memory_limit: u64,
    max_output: u64,
    output_used: u64,
    max_snapshot: u64,
    truncate_output: bool,
}

#[pymethods]
impl Leg {
    #[new]
    #[pyo3(signature = (*, deadline_ns, kill_ns, memory_limit, max_output, output_used,
                        max_snapshot, truncate_output))]
    fn new(
        deadline_ns: u64,
        kill_ns: u64,
        memory_limit: u64,
        max_output: u64,
        output_used: u64,
        max_snapshot: u64,
        truncate_output: bool,
    ) -> Self {
        Self {
            deadline_ns,
            kill_ns,
            memory_limit,
            max_output,
            output_used,
            max_snapshot,
            truncate_output,
        }
    }
}

impl From<Leg> for wire::Leg {
    fn from(l: Leg) -> Self {
        Self {
            deadline_ns: l.deadline_ns,
            kill_ns: l.kill_ns,
            memory_limit: l.memory_limit,
            max_output: l.max_output,
            output_used: l.output_used,
            max_snapshot: l.max_snapshot,
            truncate_output: l.truncate_output,
        }
    }
}

/// The turn ended with something outstanding.
#[pyclass(frozen, get_all, module = "codemode._engine")]
pub(crate) struct Suspended {
    requests: Py<PyList>,
    request_sizes: Vec<usize>,
    output: Py<PyList>,
    output_used: u64,
    timer_ms: Option<u64>,
    yielded: Option<String>,
    main_settled: bool,
}

/// The cell is complete.
#[pyclass(frozen, get_all, module = "codemode._engine")]
pub(crate) struct Finished {
    value: Py<PyAny>,
    output: Py<PyList>,
    warnings: Vec<String>,
    output_used: u64,
    reusable: bool,
}

/// The cell failed.
#[pyclass(frozen, get_all, module = "codemode._engine")]
pub(crate) struct Failed {
    code: String,
    limit: String,
    message: String,
    location: Option<(u32, u32)>,
    output: Py<PyList>,
    warnings: Vec<String>,
}

/// The image of a suspended VM.
#[pyclass(frozen, get_all, module = "codemode._engine")]
pub(crate) struct Image {
    bytes: Py<PyBytes>,
    uncompressed: u64,
}

/// A question in the middle of a turn.
#[pyclass(frozen, get_all, module = "codemode._engine")]
pub(crate) struct Fetch {
    kind: u8,
    argument: String,
}

/// Adds the classes of this file to the module.
pub(crate) fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<Leg>()?;
    m.add_class::<Suspended>()?;
    m.add_class::<Finished>()?;
    m.add_class::<Failed>()?;
    m.add_class::<Image>()?;
    m.add_class::<Fetch>()
}

/// The Python object for a frame; `parts` are those of an image that came before its end.
#[cfg_attr(not(target_os = "linux"), allow(dead_code))]
pub(crate) fn to_python(
    py: Python<'_>,
    frame: FromWorker<'_>,
    parts: &[&[u8]],
) -> PyResult<Py<PyAny>> {
    if !parts.is_empty() && !matches!(frame, FromWorker::Image { .. } | FromWorker::Failed(_)) {
        return Err(ProtocolError::new_err("an image that does not end"));
    }
    Ok(match frame {
        FromWorker::Suspended(s) => {
            let (requests, request_sizes) = requests(py, s.requests)?;
            Py::new(
                py,
                Suspended {
                    requests,
                    request_sizes,
                    output: output(py, &s.output)?,
                    output_used: s.output_used,
                    timer_ms: s.timer_ms,
                    yielded: s.yielded,
                    main_settled: s.main_settled,
                },
            )?
            .into_any()
        }
        FromWorker::Finished(f) => Py::new(
            py,
            Finished {
                value: value(py, &f.value)?.unbind(),
                output: output(py, &f.output)?,
                warnings: f.warnings,
                output_used: f.output_used,
                reusable: f.reusable,
            },
        )?
        .into_any(),
        FromWorker::Failed(f) => Py::new(
            py,
            Failed {
                code: f.code,
                limit: f.limit,
                message: f.message,
                location: f.location,
                output: output(py, &f.output)?,
                warnings: f.warnings,
            },
        )?
        .into_any(),
        FromWorker::ImagePart(_) => {
            return Err(ProtocolError::new_err("a part of an image is not a turn"));
        }
        FromWorker::Image { bytes, uncompressed } => {
            let bytes = image(py, parts, &bytes)?.unbind();
            Py::new(py, Image { bytes, uncompressed })?.into_any()
        }
        FromWorker::Fetch(f) => {
            Py::new(py, Fetch { kind: f.kind as u8, argument: f.argument })?.into_any()
        }
    })
}

/// One image of its parts and its end.
fn image<'py>(py: Python<'py>, parts: &[&[u8]], end: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    let pieces = || parts.iter().copied().chain([end]);
    PyBytes::new_with(py, pieces().map(<[u8]>::len).sum(), |mut room| {
        for piece in pieces() {
            let (here, rest) = room.split_at_mut(piece.len());
            here.copy_from_slice(piece);
            room = rest;
        }
        Ok(())
    })
}

fn value<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    decode::value(py, bytes).map_err(decode::DecodeError::into_protocol_error)
}

/// What is asked for, and what each takes of the host.
fn requests(
    py: Python<'_>,
    requests: Vec<wire::Request<'_>>,
) -> PyResult<(Py<PyList>, Vec<usize>)> {
    let list = PyList::empty(py);
    let mut sizes = Vec::with_capacity(requests.len());
    for r in requests {
        let (input, values) =
            decode::counted(py, &r.input).map_err(decode::DecodeError::into_protocol_error)?;
        sizes.push(r.size(values));
        list.append((r.id, r.op, r.target, input))?;
    }
    Ok((list.unbind(), sizes))
}

fn output(py: Python<'_>, items: &[Cow<'_, [u8]>]) -> PyResult<Py<PyList>> {
    let list = PyList::empty(py);
    for item in items {
        let item = value(py, item)?;
        if !item.is_instance_of::<PyDict>() {
            return Err(ProtocolError::new_err("an output item is not an object"));
        }
        list.append(item)?;
    }
    Ok(list.unbind())
}
