//! The one VM of a test process, driven as a worker drives it.
#![allow(dead_code, unreachable_pub)]

use std::io::{PipeWriter, Read as _, Write as _};
use std::sync::OnceLock;

use codemode_engine as engine;
use codemode_wire::frame::IMAGE_PART_HEAD;
use codemode_wire::json::to_json;
use codemode_wire::{Encoder, Fetch, FromWorker, Leg, Resume, Settlement, Start};

pub fn leg() -> Leg {
    Leg {
        deadline_ns: engine::monotonic_ns() + 5_000_000_000,
        kill_ns: u64::MAX,
        memory_limit: 64 << 20,
        max_output: 65_536,
        output_used: 0,
        max_snapshot: 10 << 20,
        truncate_output: false,
    }
}

pub fn nothing(_: &Fetch) -> Vec<u8> {
    vec![7, 0, 0, 0, 0]
}

pub fn start(code: &str) -> FromWorker<'static> {
    engine::reset();
    let start = Start {
        leg: leg(),
        code: code.into(),
        typescript: false,
        allow_javascript: true,
        allow_typescript: true,
        globals: vec![8, 0, 0, 0, 0],
    };
    engine::start(&start, nothing)
}

pub fn value_of(turn: &FromWorker) -> String {
    match turn {
        FromWorker::Finished(f) => to_json(&f.value).expect("own bytes"),
        other => panic!("not finished: {other:?}"),
    }
}

pub fn image_of() -> Vec<u8> {
    let mut image = Vec::new();
    match engine::suspend(&mut |part| image.extend_from_slice(&part[IMAGE_PART_HEAD..])) {
        FromWorker::Image { bytes, .. } => [image, bytes.into_owned()].concat(),
        other => panic!("no image: {other:?}"),
    }
}

pub fn resume(image: Vec<u8>, settlements: Vec<Settlement<'_>>) -> FromWorker<'static> {
    engine::reset();
    let release_yields = true;
    engine::resume(
        &Resume { leg: leg(), image: image.into(), release_yields, settlements },
        nothing,
    )
}

pub fn number(n: i64) -> Vec<u8> {
    let mut out = Encoder::new();
    out.int(n);
    out.into_bytes()
}

static OUT: OnceLock<PipeWriter> = OnceLock::new();

/// What `f` gives in a fork of this process, or the wait status of one that did not get so far.
///
/// # Panics
/// If there can be no further process.
#[allow(unsafe_code)]
pub fn in_child(f: impl FnOnce() -> Vec<u8>) -> Result<Vec<u8>, i32> {
    let (mut reader, writer) = std::io::pipe().expect("a pipe");
    // SAFETY: the child goes on with a copy of everything and ends here.
    let pid = unsafe { libc::fork() };
    assert!(pid >= 0, "fork: {}", std::io::Error::last_os_error());
    if pid == 0 {
        drop(reader);
        OUT.set(writer).expect("children have no children");
        end_child(&f());
    }
    drop(writer);
    let mut out = Vec::new();
    reader.read_to_end(&mut out).expect("own pipe");
    let mut status = 0;
    // SAFETY: the pointer is to a local.
    unsafe { libc::waitpid(pid, &raw mut status, 0) };
    if status == 0 { Ok(out) } else { Err(status) }
}

/// Ends a child of [`in_child`], which gives `out`.
#[allow(unsafe_code)]
pub fn end_child(out: &[u8]) -> ! {
    let done = OUT.get().is_some_and(|mut pipe| pipe.write_all(out).is_ok());
    // SAFETY: does not return.
    unsafe { libc::_exit(i32::from(!done)) }
}
