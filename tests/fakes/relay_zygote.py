"""Stands in for the worker binary: gives its control socket to the test and ends as told.

The test copies this file, puts an interpreter line on top, and listens on the socket beside it.
"""

import os
import signal
import socket

CONTROL = 3


def read(path: str) -> str:
    with open(path) as file:  # noqa: PTH123 -- pathlib doubles the time that this takes to start
        return file.read()


def main() -> None:
    extra = []
    for fd in range(CONTROL + 1, 1024):
        try:
            os.fstat(fd)
        except OSError:
            continue
        extra.append(fd)
    seen = {
        "environment": read("/proc/self/environ"),
        "directory": os.getcwd(),  # noqa: PTH109
        "extra": extra,
        "streams": [os.readlink(f"/proc/self/fd/{fd}") for fd in range(3)],  # noqa: PTH115
        "own_session": os.getsid(0) == os.getpid(),
        "status": read("/proc/self/status"),
    }
    relay = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    relay.connect(__file__.removesuffix(".py") + ".sock")
    socket.send_fds(relay, [repr(seen).encode()], [CONTROL])
    os.close(CONTROL)
    order = relay.recv(16)
    if order.startswith(b"exit "):
        os._exit(int(order[5:]))
    os.kill(os.getpid(), signal.SIGKILL)


main()
