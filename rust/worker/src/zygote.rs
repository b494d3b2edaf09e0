//! The zygote: builds the template once, then forks a child per request.
//!
//! Requests: [`codemode_wire::fork_head`], serial (u32, little endian), with one socket attached.
//! Answers: first `H` [`codemode_wire::PROTOCOL`] · `T` length report · `P` 0 0 0 serial pid, with a pidfd · `E` serial text ·
//! `X` 0 0 0 serial wait-status. One message of the control socket each.
#![allow(unsafe_code)]

use std::collections::HashMap;
use std::os::fd::{AsRawFd, IntoRawFd, OwnedFd, RawFd};

use crate::confine::{self, BpfProgram};
use crate::{leg, sys};
use codemode_engine as engine;

const CONTROL: RawFd = 3;

/// Serves until the host closes the control socket.
pub(crate) fn run() -> Result<(), String> {
    close_others();
    greet()?;
    set_utc();
    let build = build_id()?;
    engine::build_template(build, stack_range()?).map_err(|e| e.to_string())?;
    let layers = confine::confine_zygote()?;
    let filter = confine::filter()?;
    let signals = sys::child_signals().map_err(|e| format!("signalfd: {e}"))?;
    report(build, &layers)?;
    let mut children = HashMap::new();
    loop {
        let (asked, ended) =
            sys::poll2(CONTROL, signals.as_raw_fd()).map_err(|e| format!("poll: {e}"))?;
        if ended {
            drain(&signals);
            while let Some((pid, status)) = sys::reap() {
                if let Some(serial) = children.remove(&pid) {
                    answer(b'X', serial, &status.to_le_bytes(), None);
                }
            }
        }
        if asked && !serve_request(&filter, &signals, &mut children)? {
            return Ok(());
        }
    }
}

fn serve_request(
    filter: &BpfProgram,
    signals: &OwnedFd,
    children: &mut HashMap<i32, u32>,
) -> Result<bool, String> {
    let mut message = [0; 8];
    let received = sys::receive(CONTROL, &mut message).map_err(|e| format!("control: {e}"))?;
    let (8, Some(socket)) = (match received {
        None => return Ok(false),
        Some(got) => got,
    }) else {
        return Err("malformed request".into());
    };
    let serial = u32::from_le_bytes(message[4..].try_into().expect("four bytes"));
    if message[..4] != codemode_wire::fork_head() {
        answer_error(serial, codemode_wire::OTHER_BUILD);
        return Ok(true);
    }
    // SAFETY: no pointers.
    let zygote = unsafe { libc::getpid() };
    match sys::fork() {
        Ok(None) => child(socket, signals, zygote, filter),
        Ok(Some(pid)) => {
            children.insert(pid, serial);
            match sys::pidfd(pid) {
                Ok(fd) => answer(b'P', serial, &pid.to_le_bytes(), Some(fd.as_raw_fd())),
                Err(e) => answer_error(serial, &format!("pidfd_open: {e}")),
            }
        }
        Err(e) => answer_error(serial, &format!("fork: {e}")),
    }
    Ok(true)
}

fn child(socket: OwnedFd, signals: &OwnedFd, zygote: i32, filter: &BpfProgram) -> ! {
    let raw = socket.into_raw_fd();
    // SAFETY: descriptors of this process only; CONTROL becomes the socket of the leg.
    unsafe {
        libc::close(signals.as_raw_fd());
        if libc::dup2(raw, confine::SOCKET) < 0 {
            leg::refuse(raw, format!("dup2: {}", sys::errno()));
        }
        libc::close(raw);
        for standard in 0..3 {
            libc::close(standard);
        }
    }
    // A leg that waits already is served at once.
    if !sys::is_readable(confine::SOCKET) {
        engine::rehearse();
    }
    if let Err(why) = confine::seal(zygote, filter) {
        leg::refuse(confine::SOCKET, format!("the sandbox could not be set up: {why}"));
    }
    leg::serve()
}

fn answer(kind: u8, serial: u32, body: &[u8], attach: Option<RawFd>) {
    let mut message = vec![kind, 0, 0, 0];
    message.extend_from_slice(&serial.to_le_bytes());
    message.extend_from_slice(body);
    // A host that is gone is noticed at the next request.
    let _ = sys::send(CONTROL, &message, attach);
}

fn answer_error(serial: u32, text: &str) {
    let mut message = vec![b'E'];
    message.extend_from_slice(&serial.to_le_bytes());
    message.extend_from_slice(text.as_bytes());
    let _ = sys::send(CONTROL, &message, None);
}

/// Says which protocol this is, before anything can go wrong.
fn greet() -> Result<(), String> {
    let message = [b"H", codemode_wire::PROTOCOL.as_bytes()].concat();
    sys::send(CONTROL, &message, None).map_err(|e| format!("control: {e}"))
}

/// Tells the host why there will be no worker: a failed fork of nobody's.
pub(crate) fn last_words(text: &str) {
    answer_error(0, text);
}

fn report(build: u64, layers: &confine::Layers) -> Result<(), String> {
    let layer = |r: &Result<(), String>| match r {
        Ok(()) => "active".to_owned(),
        Err(why) => format!("unavailable: {why}"),
    };
    let text = serde_json::json!({
        "engine": "quickjs-ng 0.16.2",
        "build": format!("{build:016x}"),
        "templateBytes": engine::template_bytes(),
        "templateHash": format!("{:016x}", engine::template_hash()),
        "seccomp": confine::SECCOMP,
        "namespaces": layer(&layers.namespaces),
        "landlock": layer(&layers.landlock),
    })
    .to_string();
    let mut message = vec![b'T'];
    message.extend_from_slice(&(text.len() as u32).to_le_bytes());
    message.extend_from_slice(text.as_bytes());
    sys::send(CONTROL, &message, None).map_err(|e| format!("control: {e}"))
}

fn drain(signals: &OwnedFd) {
    let mut buf = [0u8; 128 * 8];
    // SAFETY: reads into a local buffer of that size; the descriptor does not block.
    while unsafe { libc::read(signals.as_raw_fd(), buf.as_mut_ptr().cast(), buf.len()) } > 0 {}
}

/// Whatever the host leaked into us is closed before anything else happens.
fn close_others() {
    // SAFETY: no pointers; own descriptors above the control socket.
    unsafe { libc::syscall(libc::SYS_close_range, CONTROL + 1, u32::MAX, 0) };
}

/// Guests live in UTC, whatever the machine is set to.
fn set_utc() {
    unsafe extern "C" {
        fn tzset();
    }
    // SAFETY: one thread; nobody else reads the environment.
    unsafe {
        libc::setenv(c"TZ".as_ptr(), c"UTC0".as_ptr(), 1);
        tzset();
    }
}

/// Identity of this executable, which the linker made of its contents: images are only good for
/// the build that took them.
fn build_id() -> Result<u64, String> {
    const NT_GNU_BUILD_ID: u32 = 3;
    // SAFETY: the kernel says where the headers of this executable lie, and the headers where its
    // notes do: it is linked without relocation, and all of it stays mapped.
    let notes = unsafe {
        let headers = libc::getauxval(libc::AT_PHDR) as *const libc::Elf64_Phdr;
        let count = libc::getauxval(libc::AT_PHNUM) as usize;
        std::slice::from_raw_parts(headers, count)
            .iter()
            .filter(|header| header.p_type == libc::PT_NOTE)
            .map(|h| (std::slice::from_raw_parts(h.p_vaddr as *const u8, h.p_memsz as usize), h))
    };
    for (mut note, header) in notes {
        let align = (header.p_align as usize).max(4);
        while let Some((head, rest)) = note.split_at_checked(12) {
            let word = |at: usize| u32::from_le_bytes(head[at..at + 4].try_into().expect("four"));
            let (name_len, len, kind) = (word(0) as usize, word(4) as usize, word(8));
            let at = name_len.next_multiple_of(align);
            let (Some(name), Some(content)) = (rest.get(..name_len), rest.get(at..at + len)) else {
                break;
            };
            if kind == NT_GNU_BUILD_ID && name == b"GNU\0" && len >= 8 {
                return Ok(u64::from_le_bytes(content[..8].try_into().expect("eight")));
            }
            note = rest.get(at + len.next_multiple_of(align)..).unwrap_or_default();
        }
    }
    Err("the executable has no build id".into())
}

/// Address range of the native stack.
fn stack_range() -> Result<std::ops::Range<usize>, String> {
    let maps = std::fs::read_to_string("/proc/self/maps").map_err(|e| format!("maps: {e}"))?;
    let line = maps.lines().find(|l| l.ends_with("[stack]")).ok_or("no stack in maps")?;
    let (from, to) = line.split_once(' ').and_then(|(r, _)| r.split_once('-')).ok_or("maps")?;
    let parse = |s| usize::from_str_radix(s, 16).map_err(|e| e.to_string());
    let to = parse(to)?;
    // The stack grows downwards from here, up to its limit.
    Ok(parse(from)?.min(to - (8 << 20))..to)
}
