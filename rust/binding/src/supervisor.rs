//! `Zygote` and `Worker` as Python sees them.
//!
//! No lock is held while Python code may run: values are decoded after a frame was taken, and
//! encoded before it is queued. Objects may therefore be used and dropped on any thread.

use std::borrow::Cow;
use std::ffi::CString;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use codemode_wire::{FromWorker, Resume, Settlement, Start, ToWorker};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyString;
use rustix::io::Errno;

use crate::control::{Control, ControlError};
use crate::errors::{ProtocolError, WorkerDied};
use crate::fate::Fate;
use crate::stream::{Incoming, Piece, RecvError, Stream};
use crate::text::lossy;
use crate::turns::{self, Leg};

/// Default of `Worker.max_frame`, in bytes.
const MAX_FRAME: usize = 64 << 20;

impl From<ControlError> for PyErr {
    fn from(e: ControlError) -> Self {
        match e {
            ControlError::Died(why) => WorkerDied::new_err(why),
            ControlError::Protocol(what) => ProtocolError::new_err(what),
            ControlError::Io(e) => e.into(),
        }
    }
}

/// Nanoseconds of the clock that `Leg` refers to.
#[pyfunction]
pub(crate) fn monotonic_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec.cast_unsigned() * 1_000_000_000 + now.tv_nsec.cast_unsigned()
}

/// The process that forks workers.
#[pyclass(frozen, module = "codemode._engine")]
pub(crate) struct Zygote(Arc<Control>);

#[pymethods]
impl Zygote {
    #[new]
    #[pyo3(signature = (path, *, stderr = false))]
    fn new(path: &str, stderr: bool) -> PyResult<Self> {
        let c_path = CString::new(path).map_err(|_| PyValueError::new_err("NUL in the path"))?;
        let control = Control::start(&c_path, stderr).map_err(|e| {
            let text = format!("the worker binary cannot be started: {e}");
            PyOSError::new_err((e.raw_os_error(), text, path.to_owned()))
        })?;
        Ok(Self(Arc::new(control)))
    }

    #[getter]
    fn pid(&self) -> i32 {
        self.0.pid()
    }

    #[getter]
    fn report(&self) -> Option<String> {
        self.0.report()
    }

    fn fileno(&self) -> i32 {
        self.0.fileno()
    }

    fn fork(&self) -> PyResult<Worker> {
        let (socket, fate) = self.0.fork()?;
        Ok(Worker::new(socket, fate, Arc::downgrade(&self.0)))
    }

    fn poll(&self) -> PyResult<()> {
        Ok(self.0.drain()?)
    }

    fn close(&self, py: Python<'_>) {
        py.detach(|| self.0.close());
    }
}

impl Drop for Zygote {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// A process that runs one leg of one cell.
#[pyclass(frozen, module = "codemode._engine")]
pub(crate) struct Worker {
    fate: Arc<Fate>,
    zygote: Weak<Control>,
    max_frame: AtomicUsize,
    /// Bytes that further turns may carry to the model.
    text_left: AtomicUsize,
    state: Mutex<State>,
}

enum State {
    Open(Stream),
    /// Killed here; the socket is still open.
    Killed(Stream),
    Closed,
}

/// No collection of garbage while a large frame becomes objects, which none of it is: the collector
/// would go through all of them again and again.
struct Uncollected<'py>(Option<Bound<'py, PyModule>>);

impl<'py> Uncollected<'py> {
    /// Bytes from which on it matters.
    const LARGE: usize = 64 << 10;

    fn begin(py: Python<'py>, frame: &FromWorker<'_>) -> PyResult<Self> {
        let inputs = match frame {
            FromWorker::Suspended(s) => s.requests.iter().map(|r| r.input.len()).sum(),
            _ => 0,
        };
        if inputs + frame.text_len() < Self::LARGE {
            return Ok(Self(None));
        }
        let gc = py.import(intern!(py, "gc"))?;
        if !gc.call_method0(intern!(py, "isenabled"))?.extract::<bool>()? {
            return Ok(Self(None));
        }
        gc.call_method0(intern!(py, "disable"))?;
        Ok(Self(Some(gc)))
    }
}

impl Drop for Uncollected<'_> {
    fn drop(&mut self) {
        if let Some(gc) = &self.0 {
            // Sets a flag; it has no way to fail.
            let _ = gc.call_method0(intern!(gc.py(), "enable"));
        }
    }
}

type Settlements = Vec<(u32, bool, PyBackedBytes)>;

#[pymethods]
impl Worker {
    #[getter]
    fn pid(&self) -> Option<i32> {
        self.fate.pid()
    }

    #[getter]
    fn serial(&self) -> u32 {
        self.fate.serial()
    }

    #[getter]
    fn exit_status(&self) -> Option<i32> {
        self.fate.exit_status()
    }

    #[getter]
    fn max_frame(&self) -> usize {
        self.max_frame.load(Ordering::Relaxed)
    }

    #[setter]
    fn set_max_frame(&self, bytes: usize) -> PyResult<()> {
        if bytes == 0 || bytes > codemode_wire::MAX_FRAME {
            let most = codemode_wire::MAX_FRAME;
            let text = format!("max_frame is {bytes}, it must be from 1 to {most}");
            return Err(PyValueError::new_err(text));
        }
        self.max_frame.store(bytes, Ordering::Relaxed);
        Ok(())
    }

    fn limit_output(&self, max_output: u64) {
        self.text_left.store(codemode_wire::max_text_len(max_output), Ordering::Relaxed);
    }

    fn fileno(&self) -> i32 {
        match &*self.lock() {
            State::Open(stream) | State::Killed(stream) => stream.fileno(),
            State::Closed => -1,
        }
    }

    #[pyo3(signature = (*, code, typescript, allow_javascript, allow_typescript, globals, leg))]
    #[allow(clippy::fn_params_excessive_bools)] // the stub's shape; the arguments are named
    fn start(
        &self,
        code: &Bound<'_, PyString>,
        typescript: bool,
        allow_javascript: bool,
        allow_typescript: bool,
        globals: &[u8],
        leg: &Bound<'_, Leg>,
    ) -> PyResult<bool> {
        self.send(&ToWorker::Start(Start {
            leg: (*leg.get()).into(),
            code: lossy(code)?.into_owned(),
            typescript,
            allow_javascript,
            allow_typescript,
            globals: globals.to_vec(),
        }))
    }

    #[pyo3(signature = (*, image, release_yields, settlements, leg))]
    fn resume(
        &self,
        image: PyBackedBytes,
        release_yields: bool,
        settlements: Settlements,
        leg: &Bound<'_, Leg>,
    ) -> PyResult<bool> {
        let resume = Resume {
            leg: (*leg.get()).into(),
            image: Cow::Borrowed(&image),
            release_yields,
            settlements: from_python(&settlements),
        };
        let head = resume.head();
        drop(resume);
        self.send_pieces([Piece::Own(head), Piece::Shared(image)])
    }

    fn settle(&self, settlements: Settlements) -> PyResult<bool> {
        self.send(&ToWorker::Settle(from_python(&settlements)))
    }

    fn suspend(&self) -> PyResult<bool> {
        self.send(&ToWorker::Suspend)
    }

    fn data(&self, value: &[u8]) -> PyResult<bool> {
        self.send(&ToWorker::Data(Cow::Borrowed(value)))
    }

    fn flush(&self) -> PyResult<bool> {
        self.with_stream(|stream| stream.flush().map_err(io_error))
    }

    fn recv(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        if self.fate.fork_error().is_some() {
            return Err(self.died());
        }
        let max_frame = self.max_frame();
        match self.with_stream(|stream| Ok(stream.recv(max_frame)))? {
            Ok(Incoming::Frame(bytes)) => {
                self.check_build()?;
                let frame = FromWorker::decode(&bytes)
                    .map_err(|e| ProtocolError::new_err(e.to_string()))?;
                self.count_text(frame.text_len())?;
                let _paused = Uncollected::begin(py, &frame)?;
                turns::to_python(py, frame, &bytes.parts()).map(Some)
            }
            Ok(Incoming::Incomplete) => Ok(None),
            Ok(Incoming::End) => Err(self.died()),
            Err(RecvError::Wire(e)) => {
                self.check_build()?;
                Err(ProtocolError::new_err(e.to_string()))
            }
            Err(RecvError::Io(e)) => Err(io_error(e)),
        }
    }

    fn kill(&self) {
        // To shut the socket down would end the conversation of its owner.
        if self.fate.owner.check().is_err() {
            return;
        }
        self.fate.doom();
        let mut state = self.lock();
        *state = match std::mem::replace(&mut *state, State::Closed) {
            State::Open(mut stream) => {
                stream.shutdown();
                State::Killed(stream)
            }
            other => other,
        };
    }

    fn close(&self) {
        if self.fate.owner.check().is_err() {
            return;
        }
        self.fate.doom();
        *self.lock() = State::Closed;
    }
}

impl Worker {
    fn new(socket: OwnedFd, fate: Arc<Fate>, zygote: Weak<Control>) -> Self {
        Self {
            fate,
            zygote,
            max_frame: AtomicUsize::new(MAX_FRAME),
            text_left: AtomicUsize::new(usize::MAX),
            state: Mutex::new(State::Open(Stream::new(socket))),
        }
    }

    /// Before anything that it said is believed, or blamed on it.
    fn check_build(&self) -> PyResult<()> {
        let greeted = self.zygote.upgrade().map_or(Ok(()), |zygote| zygote.greet());
        greeted.map_err(WorkerDied::new_err)
    }

    /// Before anything becomes an object: those are many times as large as their bytes.
    fn count_text(&self, more: usize) -> PyResult<()> {
        match self.text_left.load(Ordering::Relaxed).checked_sub(more) {
            Some(left) => {
                self.text_left.store(left, Ordering::Relaxed);
                Ok(())
            }
            None => Err(ProtocolError::new_err("more output than the limit of the cell allows")),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with_stream<T>(&self, act: impl FnOnce(&mut Stream) -> PyResult<T>) -> PyResult<T> {
        self.fate.owner.check().map_err(|e| WorkerDied::new_err(e.to_string()))?;
        match &mut *self.lock() {
            State::Open(stream) => act(stream),
            State::Killed(_) => Err(WorkerDied::new_err("the worker was killed by the host")),
            State::Closed => Err(WorkerDied::new_err("the worker was closed by the host")),
        }
    }

    fn send(&self, frame: &ToWorker) -> PyResult<bool> {
        self.send_pieces([Piece::Own(frame.encode())])
    }

    fn send_pieces<const N: usize>(&self, frame: [Piece; N]) -> PyResult<bool> {
        let len = frame.iter().map(|piece| piece.len()).sum::<usize>();
        if len > codemode_wire::MAX_FRAME {
            let most = codemode_wire::MAX_FRAME;
            let text = format!("a frame of {len} bytes is over the limit of {most}");
            return Err(PyValueError::new_err(text));
        }
        self.with_stream(|stream| stream.send(frame).map_err(io_error))
    }

    /// The exit status comes through the zygote, often a moment after the end of the stream.
    fn died(&self) -> PyErr {
        if let Some(zygote) = self.zygote.upgrade()
            && self.fate.exit_status().is_none()
            && self.fate.fork_error().is_none()
        {
            zygote.await_exit(&self.fate);
        }
        WorkerDied::new_err(self.fate.epitaph())
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.fate.doom();
    }
}

fn from_python(settlements: &Settlements) -> Vec<Settlement<'_>> {
    settlements
        .iter()
        .map(|(id, ok, value)| Settlement { id: *id, ok: *ok, value: Cow::Borrowed(value) })
        .collect()
}

fn io_error(e: Errno) -> PyErr {
    std::io::Error::from(e).into()
}
