//! The two exceptions of this module.

use pyo3::create_exception;
use pyo3::exceptions::PyException;

create_exception!(
    codemode._engine,
    WorkerDied,
    PyException,
    "The process at the other end of the socket is gone."
);
create_exception!(
    codemode._engine,
    ProtocolError,
    PyException,
    "The process at the other end of the socket said something that the protocol never says."
);
