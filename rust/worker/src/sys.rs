//! System calls that the standard library does not wrap.
//!
//! Invariant: pointers passed to the kernel are to locals or slices that outlive the call.
#![allow(unsafe_code)]

use std::io::{self, Error};
use std::mem::MaybeUninit;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::ptr;

use libc::{c_int, c_void};

/// Turns -1 into the error of the call.
pub(crate) fn check(status: c_int) -> io::Result<c_int> {
    if status < 0 { Err(Error::last_os_error()) } else { Ok(status) }
}

/// Reads exactly `buf.len()` bytes; `Ok(false)` at end of file before the first.
pub(crate) fn read_exact(fd: RawFd, buf: &mut [u8]) -> io::Result<bool> {
    // SAFETY: initialised bytes are a special case of uninitialised ones; only bytes are written.
    let buf = unsafe { &mut *(ptr::from_mut(buf) as *mut [MaybeUninit<u8>]) };
    read_into(fd, buf)
}

/// Reads exactly `len` bytes into fresh memory; `Ok(None)` at end of file before the first.
pub(crate) fn read_vec(fd: RawFd, len: usize) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::with_capacity(len);
    if !read_into(fd, &mut bytes.spare_capacity_mut()[..len])? {
        return Ok(None);
    }
    // SAFETY: the capacity is at least `len`, and so many bytes were written.
    unsafe { bytes.set_len(len) };
    Ok(Some(bytes))
}

fn read_into(fd: RawFd, buf: &mut [MaybeUninit<u8>]) -> io::Result<bool> {
    let mut done = 0;
    while done < buf.len() {
        let rest = &mut buf[done..];
        // SAFETY: see the module.
        let n = unsafe { libc::read(fd, rest.as_mut_ptr().cast(), rest.len()) };
        match n {
            0 if done == 0 => return Ok(false),
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            n if n > 0 => done += n as usize,
            _ => {
                let e = Error::last_os_error();
                if e.kind() != io::ErrorKind::Interrupted {
                    return Err(e);
                }
            }
        }
    }
    Ok(true)
}

pub(crate) fn write_all(fd: RawFd, mut buf: &[u8]) -> io::Result<()> {
    while !buf.is_empty() {
        // SAFETY: see the module.
        let n = unsafe { libc::write(fd, buf.as_ptr().cast(), buf.len()) };
        if n >= 0 {
            buf = &buf[n as usize..];
        } else {
            let e = Error::last_os_error();
            if e.kind() != io::ErrorKind::Interrupted {
                return Err(e);
            }
        }
    }
    Ok(())
}

/// One control message and the descriptor that came with it; `None` at end of file.
pub(crate) fn receive(fd: RawFd, buf: &mut [u8]) -> io::Result<Option<(usize, Option<OwnedFd>)>> {
    let mut room = [0u64; 8];
    let mut part = libc::iovec { iov_base: buf.as_mut_ptr().cast(), iov_len: buf.len() };
    // SAFETY: see the module; the header is zeroed and then filled; the kernel's control data is
    // read only as far as it says.
    unsafe {
        let mut header: libc::msghdr = std::mem::zeroed();
        header.msg_iov = &raw mut part;
        header.msg_iovlen = 1;
        header.msg_control = room.as_mut_ptr().cast();
        header.msg_controllen = size_of_val(&room);
        let n = libc::recvmsg(fd, &raw mut header, libc::MSG_CMSG_CLOEXEC);
        if n < 0 {
            return Err(Error::last_os_error());
        }
        if n == 0 {
            return Ok(None);
        }
        let mut sent = None;
        let message = libc::CMSG_FIRSTHDR(&raw const header);
        if !message.is_null()
            && (*message).cmsg_level == libc::SOL_SOCKET
            && (*message).cmsg_type == libc::SCM_RIGHTS
        {
            let raw = libc::CMSG_DATA(message).cast::<c_int>().read_unaligned();
            sent = Some(OwnedFd::from_raw_fd(raw));
        }
        Ok(Some((n as usize, sent)))
    }
}

/// Sends one control message, perhaps with a descriptor.
pub(crate) fn send(fd: RawFd, buf: &[u8], attach: Option<RawFd>) -> io::Result<()> {
    let mut room = [0u64; 8];
    let mut part =
        libc::iovec { iov_base: buf.as_ptr().cast_mut().cast::<c_void>(), iov_len: buf.len() };
    // SAFETY: see the module; `room` holds one control message of one descriptor.
    unsafe {
        let mut header: libc::msghdr = std::mem::zeroed();
        header.msg_iov = &raw mut part;
        header.msg_iovlen = 1;
        if let Some(raw) = attach {
            header.msg_control = room.as_mut_ptr().cast();
            header.msg_controllen = libc::CMSG_SPACE(size_of::<c_int>() as u32) as usize;
            let message = libc::CMSG_FIRSTHDR(&raw const header);
            (*message).cmsg_level = libc::SOL_SOCKET;
            (*message).cmsg_type = libc::SCM_RIGHTS;
            (*message).cmsg_len = libc::CMSG_LEN(size_of::<c_int>() as u32) as usize;
            libc::CMSG_DATA(message).cast::<c_int>().write_unaligned(raw);
        }
        let n = libc::sendmsg(fd, &raw const header, libc::MSG_NOSIGNAL);
        check(n as c_int).map(drop)
    }
}

/// A descriptor that becomes readable when a child has ended.
pub(crate) fn child_signals() -> io::Result<OwnedFd> {
    // SAFETY: see the module; the set is initialised before use; the descriptor is new.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigaddset(&raw mut set, libc::SIGCHLD);
        check(libc::sigprocmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut()))?;
        let fd = check(libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK))?;
        Ok(OwnedFd::from_raw_fd(fd))
    }
}

/// Waits until one of the two is readable: which of them are.
pub(crate) fn poll2(a: RawFd, b: RawFd) -> io::Result<(bool, bool)> {
    let mut fds = [a, b].map(|fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 });
    loop {
        // SAFETY: see the module.
        match check(unsafe { libc::poll(fds.as_mut_ptr(), 2, -1) }) {
            Ok(_) => return Ok((fds[0].revents != 0, fds[1].revents != 0)),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
}

/// Whether there is something to read now.
pub(crate) fn is_readable(fd: RawFd) -> bool {
    let mut one = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    // SAFETY: see the module.
    unsafe { libc::poll(&raw mut one, 1, 0) > 0 }
}

/// A child that has ended and its wait status.
pub(crate) fn reap() -> Option<(i32, i32)> {
    let mut status = 0;
    // SAFETY: see the module.
    let pid = unsafe { libc::waitpid(-1, &raw mut status, libc::WNOHANG) };
    (pid > 0).then_some((pid, status))
}

/// `Ok(None)` in the child, the child's pid in the parent.
pub(crate) fn fork() -> io::Result<Option<i32>> {
    // SAFETY: one thread; the child goes on with a copy of everything.
    let pid = check(unsafe { libc::fork() })?;
    Ok((pid > 0).then_some(pid))
}

pub(crate) fn pidfd(pid: i32) -> io::Result<OwnedFd> {
    // SAFETY: no pointers; the descriptor is new.
    unsafe {
        let fd = check(libc::syscall(libc::SYS_pidfd_open, pid, 0) as c_int)?;
        Ok(OwnedFd::from_raw_fd(fd))
    }
}

/// Ends the process without running anything more.
pub(crate) fn exit(status: i32) -> ! {
    // SAFETY: does not return.
    unsafe { libc::_exit(status) }
}

pub(crate) fn errno() -> Error {
    Error::last_os_error()
}
