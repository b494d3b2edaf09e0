//! Frames over a non-blocking stream socket.

use std::collections::VecDeque;
use std::os::fd::{AsRawFd, OwnedFd};

use codemode_wire::WireError;
use codemode_wire::frame::{IMAGE_PART, IMAGE_PART_HEAD, frame_len};
use pyo3::pybacked::PyBackedBytes;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, Shutdown};

/// Smallest read, in bytes.
const CHUNK: usize = 64 << 10;

/// Most that is to be read at a time, in bytes: the event loop has other work as well.
pub(crate) const PER_CALL: usize = 512 << 10;

/// What a part of an image is taken to need besides its bytes.
const PART_COST: usize = 64;

/// A part of a frame, of this process or of Python's.
#[derive(Debug)]
pub(crate) enum Piece {
    Own(Vec<u8>),
    Shared(PyBackedBytes),
}

impl std::ops::Deref for Piece {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Own(bytes) => bytes,
            Self::Shared(bytes) => bytes,
        }
    }
}

/// What became of an attempt to read a frame.
#[derive(Debug)]
pub(crate) enum Incoming {
    /// Without its length.
    Frame(Bytes),
    Incomplete,
    /// The peer is gone; with a part of a frame or without.
    End,
}

/// One worker's socket with what was read ahead and what is still to be written.
#[derive(Debug)]
pub(crate) struct Stream {
    socket: OwnedFd,
    inbox: Vec<u8>,
    /// Start of what was not taken yet.
    taken: usize,
    /// Lengths of the frames from there on that are parts of an image, and their sum.
    parts: Vec<usize>,
    kept: usize,
    outbox: VecDeque<Piece>,
    /// Bytes of the first of `outbox` that are written.
    written: usize,
}

impl Stream {
    /// `socket` must be non-blocking.
    pub(crate) fn new(socket: OwnedFd) -> Self {
        Self {
            socket,
            inbox: Vec::new(),
            taken: 0,
            parts: Vec::new(),
            kept: 0,
            outbox: VecDeque::new(),
            written: 0,
        }
    }

    /// The descriptor, for an event loop.
    pub(crate) fn fileno(&self) -> i32 {
        self.socket.as_raw_fd()
    }

    /// Ends both directions; the descriptor stays, so that an event loop may still know it.
    pub(crate) fn shutdown(&mut self) {
        self.outbox.clear();
        self.written = 0;
        // The only way to fail is that it has been done.
        let _ = rustix::net::shutdown(&self.socket, Shutdown::Both);
    }

    /// Queues `frame` and writes what the socket takes; whether nothing is left.
    pub(crate) fn send(&mut self, frame: impl IntoIterator<Item = Piece>) -> Result<bool, Errno> {
        self.outbox.extend(frame);
        self.flush()
    }

    /// Writes what the socket takes; whether nothing is left. A peer that is gone takes
    /// everything: reading tells of its end, after its last words.
    pub(crate) fn flush(&mut self) -> Result<bool, Errno> {
        while let Some(first) = self.outbox.front() {
            let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
            match rustix::net::send(&self.socket, &first[self.written..], flags) {
                Ok(n) => self.written += n,
                Err(Errno::INTR) => continue,
                Err(Errno::AGAIN) => return Ok(false),
                Err(Errno::PIPE | Errno::CONNRESET) => {
                    self.outbox.clear();
                    self.written = 0;
                    return Ok(true);
                }
                Err(e) => return Err(e),
            }
            if self.written == first.len() {
                self.outbox.pop_front();
                self.written = 0;
            }
        }
        Ok(true)
    }

    /// Takes the next frame if it is here, and with the end of an image its other parts.
    pub(crate) fn recv(&mut self, max_frame: usize) -> Result<Incoming, RecvError> {
        let mut room = PER_CALL;
        loop {
            let here = &self.inbox[self.taken + self.kept..];
            let wanted = match frame_len(here, max_frame)? {
                Some(len) if len <= here.len() && here[4] == IMAGE_PART => {
                    self.keep(len, max_frame)?;
                    continue;
                }
                Some(len) if len <= here.len() => return Ok(Incoming::Frame(self.take(len))),
                Some(len) => len - here.len(),
                None => CHUNK,
            };
            if room == 0 {
                return Ok(Incoming::Incomplete);
            }
            match self.fill(wanted)? {
                Some(0) => return Ok(Incoming::End),
                Some(n) => room = room.saturating_sub(n),
                None => return Ok(Incoming::Incomplete),
            }
        }
    }

    /// Keeps the next frame, a part of an image, which in all is no larger than a frame may be.
    fn keep(&mut self, len: usize, max: usize) -> Result<(), WireError> {
        self.kept += len;
        self.parts.push(len);
        let len = self.kept + self.parts.len() * PART_COST;
        if len > max { Err(WireError::TooLarge { len, max }) } else { Ok(()) }
    }

    /// A small frame is copied; the buffer of a large one, and of parts, goes with it.
    fn take(&mut self, len: usize) -> Bytes {
        let parts = std::mem::take(&mut self.parts);
        let first = std::mem::take(&mut self.taken);
        let start = first + std::mem::take(&mut self.kept);
        let end = start + len;
        let all = end == self.inbox.len();
        if parts.is_empty() && !(all && self.inbox.capacity() > 4 * CHUNK) {
            let buffer = self.inbox[start + 4..end].to_vec();
            self.taken = if all { 0 } else { end };
            self.inbox.truncate(if all { 0 } else { self.inbox.len() });
            return Bytes { buffer, first: 0, parts, start: 0 };
        }
        let behind = self.inbox.split_off(end);
        let buffer = std::mem::replace(&mut self.inbox, behind);
        Bytes { buffer, first, parts, start: start + 4 }
    }

    /// Reads once; none if nothing is there. The buffer at most doubles per read, so it follows
    /// what has come, not what was announced.
    fn fill(&mut self, wanted: usize) -> Result<Option<usize>, Errno> {
        self.inbox.drain(..std::mem::take(&mut self.taken));
        let have = self.inbox.len();
        self.inbox.reserve(wanted.min(have).max(CHUNK));
        loop {
            let spare = rustix::buffer::spare_capacity(&mut self.inbox);
            return match rustix::net::recv(&self.socket, spare, RecvFlags::DONTWAIT) {
                Ok((n, _)) => Ok(Some(n)),
                Err(Errno::INTR) => continue,
                Err(Errno::AGAIN) => Ok(None),
                Err(Errno::CONNRESET | Errno::PIPE) => Ok(Some(0)),
                Err(e) => Err(e),
            };
        }
    }
}

/// One frame, the end of a buffer, and the frames of parts of an image before it.
#[derive(Debug)]
pub(crate) struct Bytes {
    buffer: Vec<u8>,
    first: usize,
    parts: Vec<usize>,
    start: usize,
}

impl Bytes {
    /// The parts of the image that came before this frame.
    pub(crate) fn parts(&self) -> Vec<&[u8]> {
        let mut at = self.first;
        let of = |len: &usize| {
            let frame = at..at + len;
            at = frame.end;
            &self.buffer[frame][IMAGE_PART_HEAD..]
        };
        self.parts.iter().map(of).collect()
    }
}

impl std::ops::Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.buffer[self.start..]
    }
}

/// Why reading failed.
#[derive(Debug)]
pub(crate) enum RecvError {
    Wire(WireError),
    Io(Errno),
}

impl From<WireError> for RecvError {
    fn from(e: WireError) -> Self {
        Self::Wire(e)
    }
}

impl From<Errno> for RecvError {
    fn from(e: Errno) -> Self {
        Self::Io(e)
    }
}
