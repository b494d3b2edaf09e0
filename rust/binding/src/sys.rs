//! Starting the worker binary: the one thing that needs `unsafe` here.
//!
//! Invariants:
//! 1. A `posix_spawn` attribute or action object is used only between its successful `init`
//!    and its `destroy`, which `Drop` does once; it does not move meanwhile, because it is boxed.
//! 2. Every pointer given to `posix_spawn` and its helpers comes from a reference or `CStr`
//!    that outlives the call; the action list copies paths.
//! 3. `argv` and `envp` are arrays that end in a null pointer; nothing writes through them.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_int, c_short};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::ptr;

use rustix::process::{Pid, PidfdFlags, pidfd_open};

/// Number of the control socket in the started process.
const CONTROL: c_int = 3;

/// Starts `path` with no environment, in `/`, in its own session, with default signals,
/// `/dev/null` as standard streams and `control` as descriptor 3. Gives its process id and a
/// pidfd.
///
/// No code of this process runs in the child: its memory holds the secrets of the host.
pub(crate) fn spawn(
    path: &CStr,
    control: &OwnedFd,
    inherit_stderr: bool,
) -> io::Result<(Pid, OwnedFd)> {
    // Above the standard streams and not 3 itself, for which `dup2` would change nothing.
    let control = rustix::io::fcntl_dupfd_cloexec(control.as_fd(), CONTROL + 1)?;
    let mut actions = Actions::new()?;
    actions.dev_null(libc::STDIN_FILENO, libc::O_RDONLY)?;
    actions.dev_null(libc::STDOUT_FILENO, libc::O_WRONLY)?;
    if !inherit_stderr {
        actions.dev_null(libc::STDERR_FILENO, libc::O_WRONLY)?;
    }
    actions.dup2(control.as_raw_fd(), CONTROL)?;
    actions.chdir(c"/")?;
    let attributes = Attributes::new()?;

    let argv = [path.as_ptr().cast_mut(), ptr::null_mut()];
    let envp = [ptr::null_mut()];
    let mut pid = 0;
    // SAFETY: invariants 1, 2 and 3.
    check(unsafe {
        libc::posix_spawn(
            &raw mut pid,
            path.as_ptr(),
            &raw const *actions.0,
            &raw const *attributes.0,
            argv.as_ptr(),
            envp.as_ptr(),
        )
    })?;
    let pid = Pid::from_raw(pid).ok_or_else(|| io::Error::other("no process id"))?;
    // Not yet waited for, so the number is still this child's.
    let pidfd = pidfd_open(pid, PidfdFlags::empty()).inspect_err(|_| {
        // A kernel without pidfd: do not leave the child behind.
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        let _ = rustix::process::waitpid(Some(pid), rustix::process::WaitOptions::empty());
    })?;
    Ok((pid, pidfd))
}

fn check(code: c_int) -> io::Result<()> {
    if code == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(code)) }
}

struct Actions(Box<libc::posix_spawn_file_actions_t>);

impl Actions {
    fn new() -> io::Result<Self> {
        let mut actions = Box::new(MaybeUninit::uninit());
        // SAFETY: invariant 1; a successful `init` has filled the object.
        unsafe {
            check(libc::posix_spawn_file_actions_init(actions.as_mut_ptr()))?;
            Ok(Self(actions.assume_init()))
        }
    }

    fn dev_null(&mut self, fd: c_int, mode: c_int) -> io::Result<()> {
        // SAFETY: invariants 1 and 2.
        check(unsafe {
            libc::posix_spawn_file_actions_addopen(
                &raw mut *self.0,
                fd,
                c"/dev/null".as_ptr(),
                mode,
                0,
            )
        })
    }

    fn dup2(&mut self, from: c_int, to: c_int) -> io::Result<()> {
        // SAFETY: invariant 1.
        check(unsafe { libc::posix_spawn_file_actions_adddup2(&raw mut *self.0, from, to) })
    }

    fn chdir(&mut self, path: &CStr) -> io::Result<()> {
        // SAFETY: invariants 1 and 2.
        check(unsafe {
            libc::posix_spawn_file_actions_addchdir_np(&raw mut *self.0, path.as_ptr())
        })
    }
}

impl Drop for Actions {
    fn drop(&mut self) {
        // SAFETY: invariant 1.
        unsafe { libc::posix_spawn_file_actions_destroy(&raw mut *self.0) };
    }
}

struct Attributes(Box<libc::posix_spawnattr_t>);

impl Attributes {
    /// Own session, so that Ctrl-C in the host's terminal is the host's affair; no signal
    /// blocked or ignored, whatever the calling thread has done.
    fn new() -> io::Result<Self> {
        let mut attributes = Box::new(MaybeUninit::uninit());
        // SAFETY: invariant 1; a successful `init` has filled the object.
        let mut this = unsafe {
            check(libc::posix_spawnattr_init(attributes.as_mut_ptr()))?;
            Self(attributes.assume_init())
        };
        let attributes = &raw mut *this.0;
        let mut set = MaybeUninit::uninit();
        let flags = libc::POSIX_SPAWN_SETSIGMASK
            | libc::POSIX_SPAWN_SETSIGDEF
            | c_int::from(libc::POSIX_SPAWN_SETSID);
        // SAFETY: invariants 1 and 2; `sigemptyset` and `sigfillset` fill `set` before it is read.
        unsafe {
            libc::sigemptyset(set.as_mut_ptr());
            check(libc::posix_spawnattr_setsigmask(attributes, set.as_ptr()))?;
            libc::sigfillset(set.as_mut_ptr());
            check(libc::posix_spawnattr_setsigdefault(attributes, set.as_ptr()))?;
            check(libc::posix_spawnattr_setflags(attributes, flags as c_short))?;
        }
        Ok(this)
    }
}

impl Drop for Attributes {
    fn drop(&mut self) {
        // SAFETY: invariant 1.
        unsafe { libc::posix_spawnattr_destroy(&raw mut *self.0) };
    }
}
