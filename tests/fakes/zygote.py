"""A zygote whose part the test itself plays."""

from __future__ import annotations

import ast
import os
import socket
import struct
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codemode._engine import PROTOCOL, Worker, Zygote

if TYPE_CHECKING:
    from types import TracebackType

RELAY = Path(__file__).with_name("relay_zygote.py")


class Stage:
    """A started `Zygote`, and the other end of everything that it says."""

    def __init__(self, *, greet: bool = True) -> None:
        # Short, whatever the name of the test: paths of sockets are.
        self._directory = tempfile.TemporaryDirectory(prefix="cm-")
        script = Path(self._directory.name) / "zygote.py"
        script.write_text(f"#!{sys.executable} -IS\n{RELAY.read_text()}")
        script.chmod(0o755)
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
            listener.bind(str(script.with_suffix(".sock")))
            listener.listen(1)
            listener.settimeout(20)
            self.zygote = Zygote(str(script), stderr=True)
            self.relay, _ = listener.accept()
        data, fds, _, _ = socket.recv_fds(self.relay, 1 << 16, 1)
        self.seen: dict[str, Any] = ast.literal_eval(data.decode())
        self.control = socket.socket(fileno=fds[0])
        self.control.settimeout(20)
        self._peers: list[socket.socket] = []
        if greet:
            self.control.send(b"H" + PROTOCOL.encode())

    def __enter__(self) -> Stage:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.zygote.close()
        for end in (self.control, self.relay, *self._peers):
            end.close()
        self._directory.cleanup()

    def worker(self) -> tuple[Worker, socket.socket]:
        """Asks for a worker; gives it and its own end of the socket."""
        worker = self.zygote.fork()
        serial, peer = self.asked()
        assert serial == worker.serial
        return worker, peer

    def asked(self) -> tuple[int, socket.socket]:
        """Takes the request for a worker."""
        message, fds, _, _ = socket.recv_fds(self.control, 64, 4)
        assert message[:4] == b"F" + PROTOCOL[-3:].encode()
        assert len(message) == 8
        assert len(fds) == 1
        peer = socket.socket(fileno=fds[0])
        peer.settimeout(20)
        self._peers.append(peer)
        return struct.unpack("<I", message[4:])[0], peer

    def forked(self, serial: int, pid: int) -> None:
        """Says that the worker is this process."""
        pidfd = os.pidfd_open(pid)
        message = struct.pack("<4sIi", b"P", serial, pid)
        socket.send_fds(self.control, [message], [pidfd])
        os.close(pidfd)

    def exited(self, serial: int, status: int) -> None:
        """Says how the worker ended."""
        self.control.send(struct.pack("<4sIi", b"X", serial, status))

    def end(self, order: str) -> None:
        """Ends the process: `exit N` or `kill`."""
        self.relay.send(order.encode())
        self.relay.recv(1)
        self.control.close()
