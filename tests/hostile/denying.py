"""Workers on a kernel that refuses something: a wrapper that filters its own system calls first."""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
import sys
from dataclasses import dataclass
from pathlib import Path

X86 = platform.machine() == "x86_64"
# Number on x86-64, number on arm64.
_CALLS = {
    "seccomp": (317, 277),
    "prctl": (157, 167),
    "unshare": (272, 97),
    "landlock_create_ruleset": (444, 444),
    "landlock_restrict_self": (446, 446),
    "setsid": (112, 157),
    "timer_create": (222, 107),
    "prlimit64": (302, 261),
    "mmap": (9, 222),
    "pidfd_open": (434, 434),
}
_LOAD, _IF_EQUAL, _RETURN = 0x20, 0x15, 0x06
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_NO_NEW_PRIVS, _SET_SECCOMP, _MODE_FILTER = 38, 22, 2


@dataclass(frozen=True, slots=True)
class Denial:
    """A system call that the kernel answers with an error.

    Attributes:
        call: Its name.
        error: The error.
        option: If given, only with this first argument.
    """

    call: str
    error: int = errno.EPERM
    option: int | None = None

    def __str__(self) -> str:
        option = "" if self.option is None else f"-{self.option}"
        return f"{self.call}{option}-{errno.errorcode[self.error]}"


def wrapper(path: Path, worker: str, denial: Denial) -> str:
    """Writes an executable that starts the worker under a denial."""
    number = _CALLS[denial.call][not X86]
    path.write_text(
        f"#!{sys.executable} -ISB\n"
        f"import sys\n"
        f"sys.path.append({str(Path(__file__).parent)!r})\n"
        f"from denying import start\n"
        f"start({worker!r}, {number}, {denial.error}, {denial.option!r})\n",
        "utf-8",
    )
    path.chmod(0o755)
    return str(path)


def start(worker: str, number: int, error: int, option: int | None) -> None:
    """Becomes the worker, on a kernel that refuses a call."""
    code = [(_LOAD, 0, 0, 0), (_IF_EQUAL, 0, 1 if option is None else 3, number)]
    if option is not None:
        code += [(_LOAD, 0, 0, 16), (_IF_EQUAL, 0, 1, option)]
    code += [(_RETURN, 0, 0, _ERRNO | error), (_RETURN, 0, 0, _ALLOW)]
    program = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *row) for row in code))
    header = ctypes.create_string_buffer(struct.pack("@HP", len(code), ctypes.addressof(program)))
    libc = ctypes.CDLL(None, use_errno=True)
    for arguments in (
        (_NO_NEW_PRIVS, 1, 0, 0, 0),
        (_SET_SECCOMP, _MODE_FILTER, ctypes.byref(header), 0, 0),
    ):
        if libc.prctl(*arguments):
            raise OSError(ctypes.get_errno(), "prctl")
    os.execve(worker, [worker], {})
