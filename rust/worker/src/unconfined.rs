//! No confinement at all: in place of `confine.rs` in builds with `--cfg codemode_sanitize`, because
//! `AddressSanitizer` maps memory and writes its findings to a file. Never in a release.
#![allow(unsafe_code, clippy::unnecessary_wraps)]

use std::ffi::c_char;
use std::os::fd::RawFd;

/// Descriptor of the socket in every child.
pub(crate) const SOCKET: RawFd = 3;
/// What the report says of the filter.
pub(crate) const SECCOMP: &str = "NONE: this worker is a build for tests";

/// The environment of a worker is empty, so where findings go is said when it is built.
const OPTIONS: &str =
    concat!("detect_leaks=0:exitcode=86:log_path=", env!("CODEMODE_SANITIZE_LOG"), "\0");

#[unsafe(no_mangle)]
extern "C" fn __asan_default_options() -> *const c_char {
    OPTIONS.as_ptr().cast()
}

pub(crate) struct BpfProgram;

pub(crate) struct Layers {
    pub(crate) namespaces: Result<(), String>,
    pub(crate) landlock: Result<(), String>,
}

pub(crate) fn confine_zygote() -> Result<Layers, String> {
    let none = || Err("a build for tests".to_owned());
    Ok(Layers { namespaces: none(), landlock: none() })
}

pub(crate) fn filter() -> Result<BpfProgram, String> {
    Ok(BpfProgram)
}

pub(crate) fn seal(_zygote: i32, _filter: &BpfProgram) -> Result<(), String> {
    Ok(())
}

pub(crate) fn arm_kill_timer(_at_ns: u64) {}

pub(crate) fn disarm_kill_timer() {}
