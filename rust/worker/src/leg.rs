//! One leg of one cell, served on one socket, inside the confinement.

use std::os::fd::RawFd;

use codemode_engine as engine;
use codemode_wire::{Failed, Fetch, Finished, FromWorker, MAX_FRAME, ToWorker, WireError, frame};

use crate::confine::{self, SOCKET};
use crate::sys;

/// Longest time for taking an image, nanoseconds.
const IMAGE_NS: u64 = 6_000_000_000;

/// Serves cells of one run, one after the other, until one of them does not end well, is
/// suspended, or the host hangs up.
pub(crate) fn serve() -> ! {
    engine::on_exhaustion(|turn| {
        send(&turn);
        sys::exit(0)
    });
    #[cfg(not(codemode_sanitize))]
    crate::scratch::on_exhaustion(no_memory_for_the_host().encode());
    loop {
        serve_cell();
        // Only a cell that ended by itself gets here; any other ended the process. The next
        // one finds the template as it was.
        engine::reset();
        confine::disarm_kill_timer();
    }
}

/// The guest's own memory is counted and ends in the engine; this is what it made the worker copy.
#[cfg(not(codemode_sanitize))]
fn no_memory_for_the_host() -> FromWorker<'static> {
    FromWorker::Failed(Failed {
        code: "internal_error".into(),
        limit: "memory".into(),
        message: "the program's output, arguments, errors or result took more memory than there is; pass on less".into(),
        ..Failed::default()
    })
}

/// Serves one leg; comes back only when its cell is complete.
fn serve_cell() {
    let (kill_ns, mut turn) = match decode(&receive()) {
        ToWorker::Start(start) => {
            confine::arm_kill_timer(start.leg.kill_ns);
            (start.leg.kill_ns, engine::start(&start, fetch))
        }
        ToWorker::Resume(resume) => {
            confine::arm_kill_timer(resume.leg.kill_ns);
            (resume.leg.kill_ns, engine::resume(&resume, fetch))
        }
        _ => protocol_error(),
    };
    loop {
        send(&turn);
        match turn {
            // No guest code runs now, and what tools do with the time is none of its guilt.
            FromWorker::Suspended(_) => confine::disarm_kill_timer(),
            FromWorker::Finished(Finished { reusable: true, .. }) => return,
            _ => sys::exit(0),
        }
        turn = match decode(&receive()) {
            ToWorker::Settle(settlements) => {
                confine::arm_kill_timer(kill_ns);
                engine::settle(&settlements)
            }
            ToWorker::Suspend => {
                // No guest code runs any more; a busy machine may take its time.
                confine::arm_kill_timer(engine::monotonic_ns() + IMAGE_NS);
                engine::suspend(&mut write)
            }
            _ => protocol_error(),
        };
    }
}

/// Asks the host in the middle of a turn.
fn fetch(request: &Fetch) -> Vec<u8> {
    send(&FromWorker::Fetch(request.clone()));
    match decode(&receive()) {
        ToWorker::Data(value) => value.into_owned(),
        _ => protocol_error(),
    }
}

/// The next frame, without its length.
fn receive() -> Vec<u8> {
    let mut head = [0; 4];
    match sys::read_exact(SOCKET, &mut head) {
        Ok(true) => {}
        // The host hung up: it needs this leg no more.
        Ok(false) | Err(_) => sys::exit(0),
    }
    let len = match frame::frame_len(&head, MAX_FRAME) {
        Ok(Some(len)) => len - 4,
        _ => protocol_error(),
    };
    match sys::read_vec(SOCKET, len) {
        Ok(Some(body)) => body,
        Ok(None) | Err(_) => sys::exit(0),
    }
}

fn decode(frame: &[u8]) -> ToWorker<'_> {
    ToWorker::decode(frame).unwrap_or_else(|_: WireError| protocol_error())
}

fn send(turn: &FromWorker) {
    write(&turn.encode());
}

fn write(frame: &[u8]) {
    if sys::write_all(SOCKET, frame).is_err() {
        sys::exit(0);
    }
}

/// The host said something that the protocol never says.
fn protocol_error() -> ! {
    sys::exit(65)
}

/// Tells the host why this child cannot serve, and ends.
pub(crate) fn refuse(socket: RawFd, message: String) -> ! {
    let failed = Failed { code: "runtime_unavailable".into(), message, ..Failed::default() };
    let _ = sys::write_all(socket, &FromWorker::Failed(failed).encode());
    sys::exit(71)
}
