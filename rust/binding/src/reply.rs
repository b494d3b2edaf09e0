//! Messages of the zygote, read as hostile input.

use std::os::fd::OwnedFd;

/// What the zygote says.
pub(crate) enum Reply {
    Hello(String),
    Report(String),
    Forked { serial: u32, pid: i32, pidfd: OwnedFd },
    NotForked { serial: u32, text: String },
    Exited { serial: u32, status: i32 },
}

impl Reply {
    pub(crate) fn parse(message: &[u8], mut fds: Vec<OwnedFd>) -> Result<Self, &'static str> {
        let pidfd = fds.pop();
        if !fds.is_empty() || pidfd.is_some() != message.starts_with(b"P") {
            return Err("a reply of the zygote with a wrong number of descriptors");
        }
        match (message, pidfd) {
            ([b'H', name @ ..], None) => {
                Ok(Self::Hello(String::from_utf8_lossy(name).into_owned()))
            }
            ([b'T', l0, l1, l2, l3, text @ ..], None)
                if u32::from_le_bytes([*l0, *l1, *l2, *l3]) as usize == text.len() =>
            {
                let text = str::from_utf8(text).map_err(|_| "a report that is not UTF-8")?;
                Ok(Self::Report(text.into()))
            }
            ([b'P', 0, 0, 0, s0, s1, s2, s3, p0, p1, p2, p3], Some(pidfd)) => Ok(Self::Forked {
                serial: u32::from_le_bytes([*s0, *s1, *s2, *s3]),
                pid: i32::from_le_bytes([*p0, *p1, *p2, *p3]),
                pidfd,
            }),
            ([b'E', s0, s1, s2, s3, text @ ..], None) => Ok(Self::NotForked {
                serial: u32::from_le_bytes([*s0, *s1, *s2, *s3]),
                text: String::from_utf8_lossy(text).into_owned(),
            }),
            ([b'X', 0, 0, 0, s0, s1, s2, s3, w0, w1, w2, w3], None) => Ok(Self::Exited {
                serial: u32::from_le_bytes([*s0, *s1, *s2, *s3]),
                status: i32::from_le_bytes([*w0, *w1, *w2, *w3]),
            }),
            _ => Err("a malformed reply of the zygote"),
        }
    }
}
