//! `Zygote` and `Worker` where workers cannot be confined: there are none.

use std::sync::OnceLock;
use std::time::Instant;

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;

/// Nanoseconds of a clock that never goes back.
#[pyfunction]
pub(crate) fn monotonic_ns() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

/// The process that forks workers.
#[pyclass(frozen, module = "codemode._engine")]
pub(crate) struct Zygote;

#[pymethods]
impl Zygote {
    #[new]
    #[pyo3(signature = (path, *, stderr = false))]
    fn new(path: &str, stderr: bool) -> PyResult<Self> {
        let _ = stderr;
        let text = format!("workers need Linux, so {path} cannot be started");
        Err(PyOSError::new_err(text))
    }
}

/// A process that runs one leg of one cell.
#[pyclass(frozen, module = "codemode._engine")]
pub(crate) struct Worker;
