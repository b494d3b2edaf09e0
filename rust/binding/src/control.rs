//! The zygote: its life, and the control socket through which it is asked for workers.

use std::collections::HashMap;
use std::ffi::CStr;
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use codemode_wire::{OTHER_BUILD, PROTOCOL, fork_head};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags,
    SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg,
    sendmsg, socketpair,
};
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitIdStatus, pidfd_send_signal, waitid,
};

use crate::fate::{Fate, Foreign, Owner, describe};
use crate::reply::Reply;
use crate::sys;

/// Longest message of the zygote, in bytes.
const MAX_MESSAGE: usize = 128 << 10;

/// How long `close` waits for a killed zygote. Only a kernel in trouble needs that long.
const REAP: Duration = Duration::from_secs(1);

/// How long an end of file waits for the exit status that follows it.
const STATUS: Duration = Duration::from_millis(2);

/// Longest last words that are kept, in characters.
const LAST_WORDS: usize = 2000;

/// Why the zygote did not do as asked.
#[derive(Debug)]
pub(crate) enum ControlError {
    /// It is gone.
    Died(String),
    /// It said something that the protocol never says.
    Protocol(&'static str),
    Io(io::Error),
}

impl From<Foreign> for ControlError {
    fn from(e: Foreign) -> Self {
        Self::Died(e.to_string())
    }
}

impl From<Errno> for ControlError {
    fn from(e: Errno) -> Self {
        Self::Io(e.into())
    }
}

/// A started zygote. Locks of [`Fate`] are taken inside this one's, never the other way round.
#[derive(Debug)]
pub(crate) struct Control {
    pid: Pid,
    owner: Owner,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// None once closed.
    socket: Option<OwnedFd>,
    pidfd: OwnedFd,
    /// Why nothing more can be asked.
    dead: Option<String>,
    report: Option<String>,
    /// It has said that it is of this build.
    greeted: bool,
    /// What it said just before its end.
    last_words: Option<String>,
    next_serial: u32,
    /// Workers that were asked for and have not exited.
    workers: HashMap<u32, Arc<Fate>>,
    buffer: Box<[u8]>,
}

impl Control {
    /// Starts the worker binary at `path`.
    pub(crate) fn start(path: &CStr, inherit_stderr: bool) -> io::Result<Self> {
        let flags = SocketFlags::CLOEXEC;
        let (ours, theirs) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?;
        let (pid, pidfd) = sys::spawn(path, &theirs, inherit_stderr)?;
        let state = State {
            socket: Some(ours),
            pidfd,
            dead: None,
            report: None,
            greeted: false,
            last_words: None,
            next_serial: 1,
            workers: HashMap::new(),
            buffer: vec![0; MAX_MESSAGE].into_boxed_slice(),
        };
        Ok(Self { pid, owner: Owner::this(), state: Mutex::new(state) })
    }

    pub(crate) fn pid(&self) -> i32 {
        self.pid.as_raw_pid()
    }

    /// The descriptor of the control socket, -1 once closed.
    pub(crate) fn fileno(&self) -> i32 {
        self.lock().socket.as_ref().map_or(-1, AsRawFd::as_raw_fd)
    }

    pub(crate) fn report(&self) -> Option<String> {
        self.lock().report.clone()
    }

    /// Asks for a worker: our non-blocking end of its socket, and what will become of it.
    pub(crate) fn fork(&self) -> Result<(OwnedFd, Arc<Fate>), ControlError> {
        self.owner.check()?;
        let mut state = self.lock();
        let flags = SocketFlags::CLOEXEC;
        let (ours, theirs) = socketpair(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
        rustix::io::ioctl_fionbio(&ours, true)?;
        let serial = state.next_serial;
        let mut message = [0; 8];
        message[..4].copy_from_slice(&fork_head());
        message[4..].copy_from_slice(&serial.to_le_bytes());
        state.send(&message, &theirs)?;
        state.next_serial = serial.checked_add(1).unwrap_or(1);
        let fate = Arc::new(Fate::new(serial));
        state.workers.insert(serial, Arc::clone(&fate));
        Ok((ours, fate))
    }

    /// Takes all replies that are here.
    pub(crate) fn drain(&self) -> Result<(), ControlError> {
        self.owner.check()?;
        self.lock().drain()
    }

    /// Makes sure that worker and extension are of one build: what the zygote says of that came
    /// before anything of its workers. Otherwise the reason.
    pub(crate) fn greet(&self) -> Result<(), String> {
        self.owner.check().map_err(|e| e.to_string())?;
        let mut state = self.lock();
        if !state.greeted {
            // What is wrong is noted as the reason of the end.
            let _ = state.drain();
        }
        if state.greeted {
            return Ok(());
        }
        Err(state.dead.clone().unwrap_or_else(|| OTHER_BUILD.into()))
    }

    /// Takes replies for a moment, until that worker's exit status is known.
    pub(crate) fn await_exit(&self, fate: &Fate) {
        let end = Instant::now() + STATUS;
        loop {
            let mut state = self.lock();
            // Whoever uses the zygote next is told what was wrong with it.
            if state.drain().is_err() || fate.exit_status().is_some() {
                return;
            }
            let Some(socket) = &state.socket else { return };
            if !readable_before(socket, end) {
                return;
            }
        }
    }

    /// Ends the zygote and reaps it. A fork of its owner leaves it alone.
    pub(crate) fn close(&self) {
        // Nor may it lock: another thread may have held the lock when this process was made.
        if self.owner.check().is_err() {
            return;
        }
        let mut state = self.lock();
        if state.socket.take().is_none() {
            return;
        }
        state.dead.get_or_insert_with(|| "the zygote was closed".into());
        state.workers.clear();
        let _ = pidfd_send_signal(&state.pidfd, Signal::KILL);
        readable_before(&state.pidfd, Instant::now() + REAP);
        reap(&state.pidfd);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        self.close();
    }
}

impl State {
    fn send(&mut self, message: &[u8], fd: &OwnedFd) -> Result<(), ControlError> {
        let socket = self.alive()?;
        let fds = [fd.as_fd()];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        ancillary.push(SendAncillaryMessage::ScmRights(&fds));
        let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
        loop {
            return match sendmsg(socket, &[IoSlice::new(message)], &mut ancillary, flags) {
                Ok(_) => Ok(()),
                Err(Errno::INTR) => continue,
                Err(Errno::PIPE | Errno::CONNRESET | Errno::NOTCONN) => {
                    // What it said last tells more than how it ended.
                    Err(self.drain().err().unwrap_or_else(|| self.died()))
                }
                Err(e) => Err(e.into()),
            };
        }
    }

    fn drain(&mut self) -> Result<(), ControlError> {
        while self.take_reply()? {}
        Ok(())
    }

    /// Takes one reply; whether there was one.
    fn take_reply(&mut self) -> Result<bool, ControlError> {
        self.alive()?;
        let Some(socket) = &self.socket else { return Ok(false) };
        // One more than is ever sent, so that a second descriptor is seen and closed.
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let flags = RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
        let mut into = [IoSliceMut::new(&mut self.buffer)];
        let message = match recvmsg(socket, &mut into, &mut ancillary, flags) {
            Ok(message) => message,
            // It may have ended with requests unread; what it said before is still here.
            Err(Errno::INTR | Errno::CONNRESET) => return Ok(true),
            Err(Errno::AGAIN) => return Ok(false),
            Err(e) => return Err(e.into()),
        };
        let fds: Vec<OwnedFd> = ancillary
            .drain()
            .filter_map(|m| match m {
                RecvAncillaryMessage::ScmRights(fds) => Some(fds),
                _ => None,
            })
            .flatten()
            .collect();
        if message.bytes == 0 {
            return Err(self.died());
        }
        let reply = if message.flags.intersects(ReturnFlags::TRUNC | ReturnFlags::CTRUNC) {
            Err("a reply of the zygote is too long")
        } else {
            Reply::parse(&self.buffer[..message.bytes], fds)
        };
        match reply.and_then(|reply| self.apply(reply)) {
            Ok(()) => Ok(true),
            Err(OTHER_BUILD) => {
                self.dead = Some(OTHER_BUILD.into());
                Err(ControlError::Protocol(OTHER_BUILD))
            }
            Err(what) => {
                self.dead = Some(format!("the zygote was given up: {what}"));
                Err(ControlError::Protocol(what))
            }
        }
    }

    fn apply(&mut self, reply: Reply) -> Result<(), &'static str> {
        if !self.greeted && !matches!(reply, Reply::Hello(_)) {
            return Err(OTHER_BUILD);
        }
        match reply {
            Reply::Hello(protocol) => {
                if protocol != PROTOCOL {
                    return Err(OTHER_BUILD);
                }
                if std::mem::replace(&mut self.greeted, true) {
                    return Err("a second greeting of the zygote");
                }
            }
            Reply::Report(report) => {
                if self.report.replace(report).is_some() {
                    return Err("a second report of the zygote");
                }
            }
            Reply::Forked { serial, pid, pidfd } => match self.workers.get(&serial) {
                Some(fate) => fate.forked(pid, pidfd)?,
                None => return Err("a process id for a worker that is not expected"),
            },
            Reply::NotForked { serial: 0, text } => {
                self.last_words = Some(text.chars().take(LAST_WORDS).collect());
            }
            Reply::NotForked { serial, text } => match self.workers.remove(&serial) {
                Some(fate) => fate.not_forked(text),
                None => return Err("a failed fork of a worker that is not expected"),
            },
            // A child whose pidfd could not be had is told of twice: not forked, and exited.
            Reply::Exited { serial, status } => match self.workers.remove(&serial) {
                Some(fate) => fate.exited(status),
                None if (1..self.next_serial).contains(&serial) => {}
                None => return Err("the exit of a worker that is not expected"),
            },
        }
        Ok(())
    }

    fn alive(&self) -> Result<&OwnedFd, ControlError> {
        match (&self.socket, &self.dead) {
            (Some(socket), None) => Ok(socket),
            (_, why) => Err(ControlError::Died(why.clone().unwrap_or_default())),
        }
    }

    /// Notes that the other end of the control socket is closed.
    fn died(&mut self) -> ControlError {
        // The socket of an exiting process closes just before its status is there.
        readable_before(&self.pidfd, Instant::now() + STATUS);
        let how = reap(&self.pidfd).map_or_else(
            || "closed its control socket".into(),
            |status| match (status.exit_status(), status.terminating_signal()) {
                (_, Some(signal)) => describe(signal),
                (Some(code), _) => describe(code << 8),
                _ => "ended".into(),
            },
        );
        let why = match &self.last_words {
            Some(words) => format!("the zygote {how}: {words}"),
            None => format!("the zygote {how}"),
        };
        self.dead = Some(why.clone());
        ControlError::Died(why)
    }
}

/// Whether `fd` becomes readable before `end`.
fn readable_before(fd: &OwnedFd, end: Instant) -> bool {
    loop {
        let left = end.saturating_duration_since(Instant::now());
        let Ok(left) = Timespec::try_from(left) else { return false };
        match poll(&mut [PollFd::new(fd, PollFlags::IN)], Some(&left)) {
            Err(Errno::INTR) => {}
            result => return result.is_ok_and(|n| n > 0),
        }
    }
}

/// The status of the child if it has ended; none also if someone else has taken it.
fn reap(pidfd: &OwnedFd) -> Option<WaitIdStatus> {
    waitid(WaitId::PidFd(pidfd.as_fd()), WaitIdOptions::EXITED | WaitIdOptions::NOHANG)
        .unwrap_or_default()
}
