//! What becomes of one worker, as the zygote tells it.

use std::os::fd::OwnedFd;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::process::{Signal, pidfd_send_signal};

/// The process that may use what it has started. A fork of it has copies of all descriptors, and
/// must not touch what is behind them when its objects are dropped.
#[derive(Debug)]
pub(crate) struct Owner(u32);

/// This process is a fork of the owner.
#[derive(Debug)]
pub(crate) struct Foreign;

impl std::fmt::Display for Foreign {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("it belongs to the process of which this one is a fork")
    }
}

impl Owner {
    pub(crate) fn this() -> Self {
        Self(std::process::id())
    }

    pub(crate) fn check(&self) -> Result<(), Foreign> {
        if self.0 == std::process::id() { Ok(()) } else { Err(Foreign) }
    }
}

/// Shared by the worker's owner and the zygote's books, so that a worker that was dropped
/// before its process was known is still killed.
#[derive(Debug)]
pub(crate) struct Fate {
    serial: u32,
    pub(crate) owner: Owner,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    pid: Option<i32>,
    /// Kept until the process has exited.
    pidfd: Option<OwnedFd>,
    doomed: bool,
    not_forked: Option<String>,
    exit_status: Option<i32>,
}

impl Fate {
    pub(crate) fn new(serial: u32) -> Self {
        Self { serial, owner: Owner::this(), state: Mutex::default() }
    }

    pub(crate) fn serial(&self) -> u32 {
        self.serial
    }

    pub(crate) fn pid(&self) -> Option<i32> {
        self.lock().pid
    }

    pub(crate) fn exit_status(&self) -> Option<i32> {
        self.lock().exit_status
    }

    /// Why there is no process.
    pub(crate) fn fork_error(&self) -> Option<String> {
        self.lock().not_forked.clone()
    }

    /// How the process ended, for a message.
    pub(crate) fn epitaph(&self) -> String {
        let state = self.lock();
        match (&state.not_forked, state.exit_status) {
            (Some(text), _) => format!("the worker could not be forked: {text}"),
            (None, Some(status)) => format!("the worker {}", describe(status)),
            (None, None) => "the worker closed its socket".into(),
        }
    }

    /// Kills the process, at once or as soon as it is known. A fork of its owner leaves it alone.
    pub(crate) fn doom(&self) {
        if self.owner.check().is_err() {
            return;
        }
        let mut state = self.lock();
        state.doomed = true;
        state.kill();
    }

    pub(crate) fn forked(&self, pid: i32, pidfd: OwnedFd) -> Result<(), &'static str> {
        let mut state = self.lock();
        if state.pid.is_some() {
            return Err("a second process id for one worker");
        }
        state.pid = Some(pid);
        state.pidfd = Some(pidfd);
        if state.doomed {
            state.kill();
        }
        Ok(())
    }

    pub(crate) fn not_forked(&self, text: String) {
        self.lock().not_forked = Some(text);
    }

    pub(crate) fn exited(&self, status: i32) {
        let mut state = self.lock();
        state.exit_status = Some(status);
        state.pidfd = None;
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn kill(&mut self) {
        // One signal is enough; without the descriptor it cannot reach anybody else either.
        if let Some(pidfd) = self.pidfd.take() {
            // Fails only if the process has exited.
            let _ = pidfd_send_signal(&pidfd, Signal::KILL);
        }
    }
}

/// What a wait status says.
pub(crate) fn describe(status: i32) -> String {
    let signal = status & 0x7f;
    if signal == 0 {
        return format!("exited with code {}", (status >> 8) & 0xff);
    }
    let name = match signal {
        4 => " (SIGILL)",
        6 => " (SIGABRT)",
        7 => " (SIGBUS)",
        8 => " (SIGFPE)",
        9 => " (SIGKILL)",
        11 => " (SIGSEGV)",
        14 => " (SIGALRM)",
        15 => " (SIGTERM)",
        24 => " (SIGXCPU)",
        31 => " (SIGSYS)",
        _ => "",
    };
    format!("was killed by signal {signal}{name}")
}
