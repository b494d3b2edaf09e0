//! `codemode._engine`: starts and talks to workers, and moves values between Python and the
//! wire. It holds no JavaScript engine; guest code only ever runs in the worker processes.

mod catalog;
mod decode;
mod encode;
mod errors;
mod objects;
mod path;
mod text;
mod turns;

#[cfg(target_os = "linux")]
mod control;
#[cfg(target_os = "linux")]
mod fate;
#[cfg(target_os = "linux")]
mod reply;
#[cfg(target_os = "linux")]
mod stream;
#[cfg(target_os = "linux")]
mod supervisor;
#[cfg(target_os = "linux")]
mod sys;

#[cfg(not(target_os = "linux"))]
#[path = "unsupported.rs"]
mod supervisor;

use pyo3::prelude::*;

#[pymodule]
fn _engine(m: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = m.py();
    m.add("WorkerDied", py.get_type::<errors::WorkerDied>())?;
    m.add("ProtocolError", py.get_type::<errors::ProtocolError>())?;
    m.add("PROTOCOL", codemode_wire::PROTOCOL)?;
    m.add_class::<supervisor::Zygote>()?;
    m.add_class::<supervisor::Worker>()?;
    turns::register(m)?;
    catalog::register(m)?;
    m.add_function(wrap_pyfunction!(encode::encode, m)?)?;
    m.add_function(wrap_pyfunction!(encode::encode_noting, m)?)?;
    m.add_function(wrap_pyfunction!(decode::decode, m)?)?;
    m.add_function(wrap_pyfunction!(supervisor::monotonic_ns, m)?)?;
    Ok(())
}
