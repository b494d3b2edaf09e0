"""A zygote whose workers lie: real ones, with someone between them and the host.

The host starts what it takes for the worker binary. Every worker that it gets is a real one, but
what that says passes through a `Script`, which may change, cut, repeat, hold back or invent frames.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import struct
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.fakes.zygote import RELAY

from codemode import engine
from codemode._engine import PROTOCOL, Worker, Zygote

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

_TASK = "impostor"
# Types of the frames with which the host begins a leg.
_BEGINS = (1, 2)
# What one lie may take of the host's processor before others get a turn.
_FLOOD_PIECE = 1 << 20


@dataclass(frozen=True)
class Lie:
    """What happens to one frame of the worker.

    Attributes:
        at: Which of the frames that the worker of this leg says, from 0.
        kind: What is done to it, see `Peer._tell`.
        data: Bytes for it.
        number: A number for it.
        edits: Places and bytes for it.
    """

    at: int
    kind: str
    data: bytes = b""
    number: int = 0
    edits: tuple[tuple[int, int], ...] = ()


@dataclass
class Script:
    """What the workers of one cell lie about; each entry of `legs` is for one worker."""

    legs: list[list[Lie]] = field(default_factory=list)
    told: int = 0

    def next_leg(self) -> list[Lie]:
        """The lies of the next worker that is used."""
        self.told += 1
        return self.legs.pop(0) if self.legs else []


class _Gone(Exception):
    """This worker says nothing more: the end of its task."""


class Peer:
    """One worker, as the host sees it."""

    def __init__(self, host: socket.socket, impostor: Impostor) -> None:
        self._host = host
        self._impostor = impostor
        self._loop = asyncio.get_running_loop()
        self._lies: list[Lie] = []
        self._held: bytes = b""
        self._number = 0

    async def serve(self) -> None:
        """Until the host hangs up."""
        first = await self._order()
        if first is None:
            return
        worker = await self._impostor.fork()
        with socket.socket(fileno=os.dup(worker.fileno())) as real:
            pumps = [
                asyncio.create_task(self._down(real, first), name=_TASK),
                asyncio.create_task(self._up(real), name=_TASK),
            ]
            try:
                # The host's end counts, whatever the worker does.
                await pumps[0]
            finally:
                for pump in pumps:
                    pump.cancel()
                await asyncio.gather(*pumps, return_exceptions=True)
                worker.close()

    async def _order(self) -> bytes | None:
        """What the host says next; with a start or a resume a new leg begins."""
        with contextlib.suppress(OSError):
            order = await self._frame(self._host)
            if order is not None and order[4] in _BEGINS:
                self._lies, self._number = self._impostor.script.next_leg(), 0
            return order
        return None

    async def _down(self, real: socket.socket, order: bytes | None) -> None:
        while order is not None:
            with contextlib.suppress(OSError):
                await self._loop.sock_sendall(real, order)
            order = await self._order()

    async def _up(self, real: socket.socket) -> None:
        with contextlib.suppress(OSError, _Gone):
            while (frame := await self._frame(real)) is not None:
                for lie in [lie for lie in self._lies if lie.at == self._number]:
                    frame = await self._tell(lie, frame)
                await self._say(frame + self._held)
                self._held = b""
                self._number += 1
            self._host.shutdown(socket.SHUT_WR)

    async def _frame(self, end: socket.socket) -> bytes | None:
        head = await self._exactly(end, 4)
        if head is None:
            return None
        body = await self._exactly(end, struct.unpack("<I", head)[0])
        return None if body is None else head + body

    async def _exactly(self, end: socket.socket, count: int) -> bytes | None:
        data = bytearray()
        while len(data) < count:
            piece = await self._loop.sock_recv(end, min(count - len(data), 1 << 20))
            if not piece:
                return None
            data += piece
        return bytes(data)

    async def _say(self, data: bytes) -> None:
        if data:
            await self._loop.sock_sendall(self._host, data)

    async def _tell(self, lie: Lie, frame: bytes) -> bytes:
        """What is said instead of `frame`, which may be nothing."""
        match lie.kind:
            case "flip":
                changed = bytearray(frame)
                for at, byte in lie.edits:
                    changed[at % len(changed)] = byte
                return bytes(changed)
            case "drop":
                return b""
            case "twice":
                return frame + frame
            case "swap":
                # Said after the next one.
                self._held = frame
                return b""
            case "instead":
                return lie.data
            case "before":
                return lie.data + frame
            case "after":
                return frame + lie.data
            case "length":
                return struct.pack("<I", lie.number % (1 << 32)) + frame[4:]
            case "stretch":
                return struct.pack("<I", len(frame) - 4 + len(lie.data)) + frame[4:] + lie.data
            case "late":
                await asyncio.sleep(lie.number / 1000)
                return frame
            case "cut" | "end":
                await self._say(frame[: lie.number % (len(frame) + 1)])
                if lie.kind == "end":
                    self._host.shutdown(socket.SHUT_RDWR)
                raise _Gone
            case "flood":
                piece = (lie.data or frame) * max(1, _FLOOD_PIECE // len(lie.data or frame))
                while True:
                    await self._say(piece)
                    await asyncio.sleep(0)
            case other:
                raise AssertionError(other)


class Impostor:
    """The zygote of the pool of the running loop. Made by `impostor`."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self.script = Script()
        self.real = Zygote(engine.WORKER_PATH)
        self.report = b""
        self._control: socket.socket | None = None
        self.peers: set[asyncio.Task[None]] = set()

    def meet(self, control: socket.socket) -> None:
        """Takes the zygote's end of the control socket."""
        control.setblocking(False)
        self._control = control
        self.say(b"H" + PROTOCOL.encode())
        self.say(b"T" + struct.pack("<I", len(self.report)) + self.report)
        asyncio.get_running_loop().add_reader(control.fileno(), self._asked)

    @property
    def tasks(self) -> set[asyncio.Task[Any]]:
        """Its own tasks of the loop."""
        return {task for task in asyncio.all_tasks(self._loop) if task.get_name() == _TASK}

    async def fork(self) -> Worker:
        """An honest worker."""
        while True:
            # Nobody else reads what the honest zygote says.
            self.real.poll()
            try:
                return self.real.fork()
            except BlockingIOError:
                await asyncio.sleep(0.001)

    def say(self, message: bytes) -> None:
        """Says something as the zygote."""
        if self._control is not None:
            with contextlib.suppress(OSError):
                self._control.send(message)

    def _asked(self) -> None:
        assert self._control is not None
        with contextlib.suppress(BlockingIOError):
            message, fds, _, _ = socket.recv_fds(self._control, 64, 4)
            if not message:
                self._forget()
                return
            host = socket.socket(fileno=fds[0])
            host.setblocking(False)
            task = asyncio.create_task(self._serve(host, message[4:8]), name=_TASK)
            self.peers.add(task)
            task.add_done_callback(self.peers.discard)

    async def _serve(self, host: socket.socket, serial: bytes) -> None:
        with host:
            await Peer(host, self).serve()
        self.say(b"X\0\0\0" + serial + bytes(4))

    def _forget(self) -> None:
        if self._control is not None:
            asyncio.get_running_loop().remove_reader(self._control.fileno())
            self._control.close()
            self._control = None

    async def close(self) -> None:
        """Ends all workers."""
        self._forget()
        for task in list(self.peers):
            task.cancel()
        await asyncio.gather(*self.peers, return_exceptions=True)
        self.real.close()


@contextlib.asynccontextmanager
async def impostor(monkeypatch: Any) -> AsyncIterator[Impostor]:
    """Puts an impostor in the place of the worker binary, for pools that start meanwhile."""
    loop = asyncio.get_running_loop()
    made = Impostor()
    with tempfile.TemporaryDirectory(prefix="cm-") as directory:
        script = Path(directory) / "zygote.py"
        script.write_text(f"#!{sys.executable} -IS\n{RELAY.read_text()}")
        script.chmod(0o755)
        relays: list[socket.socket] = []
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
            listener.bind(str(script.with_suffix(".sock")))
            listener.listen(8)
            listener.setblocking(False)

            def accept() -> None:
                relay, _ = listener.accept()
                relays.append(relay)
                relay.settimeout(20)
                _, fds, _, _ = socket.recv_fds(relay, 1 << 16, 1)
                made.meet(socket.socket(fileno=fds[0]))

            loop.add_reader(listener.fileno(), accept)
            monkeypatch.setattr(engine, "WORKER_PATH", str(script))
            while made.real.report is None:
                await asyncio.sleep(0.001)
                made.real.poll()
            made.report = made.real.report.encode()
            try:
                yield made
            finally:
                monkeypatch.undo()
                loop.remove_reader(listener.fileno())
                await made.close()
                for relay in relays:
                    relay.close()
