"""A server as a child process: its pipes as the SDK's message streams.

The SDK has such a transport. This one differs where a host that runs other people's servers
needs it: stderr and stray stdout go to a bounded buffer and never to ours, a line has a cap, an
answer that cannot be read is still an answer (`lines.py`), and at the end the whole process group
is killed, also when the server itself ended well and left children.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import selectors
import signal
import threading
from typing import TYPE_CHECKING, cast

import anyio
from mcp.client.stdio import get_default_environment
from mcp.shared.message import SessionMessage

from .lines import MAX_LINE_BYTES, LongLine, messages, next_line
from .log import LogBuffer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp.client._transport import TransportStreams

    from .config import StdioServer

STOP_SECONDS = 2.0
KILL_SECONDS = 1.0
LAST_WORDS_SECONDS = 0.2


class NotStarted(Exception):
    """The program of a server cannot be started."""

    def __init__(self, server: StdioServer, error: OSError) -> None:
        """Says which program or directory was not there, and what to do."""
        if server.cwd is not None and error.filename == server.cwd:
            words = f"cannot start it in {server.cwd!r} (cwd): {error.strerror}"
        else:
            words = f"cannot start {server.command!r}: {error.strerror}"
            if isinstance(error, FileNotFoundError) and " " in server.command:
                words += '; the words after the program belong in "args"'
        super().__init__(words)


@contextlib.asynccontextmanager
async def child_process(server: StdioServer, log: LogBuffer) -> AsyncIterator[TransportStreams]:
    """Starts the server and gives its streams; leaving stops it within a few seconds.

    Raises:
        NotStarted: The program cannot be started; says which one and why.
    """
    try:
        process = await asyncio.create_subprocess_exec(
            server.command,
            *server.args,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=get_default_environment() | dict(server.env),
            cwd=server.cwd,
            start_new_session=True,
            limit=MAX_LINE_BYTES,
        )
    except OSError as error:
        raise NotStarted(server, error) from error
    to_session, inbox = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outbox, from_session = anyio.create_memory_object_stream[SessionMessage](0)
    log.status = None
    stdin = cast("asyncio.StreamWriter", process.stdin)
    stdout = cast("asyncio.StreamReader", process.stdout)
    stderr = cast("asyncio.StreamReader", process.stderr)
    tasks = [
        asyncio.create_task(_read(stdout, to_session, log)),
        asyncio.create_task(_drain_stderr(stderr, log)),
        asyncio.create_task(_write(stdin, from_session, to_session)),
    ]
    try:
        yield inbox, outbox
    finally:
        # Cancelling the owner must not leave a process behind; every wait inside is bounded.
        with anyio.CancelScope(shield=True):
            if tasks[0].done():
                await _exited(process, LAST_WORDS_SECONDS)
            log.status = process.returncode
            await _stop(process, stdin, tasks)
        for stream in (to_session, inbox, outbox, from_session):
            stream.close()


@contextlib.asynccontextmanager
async def own_pipes() -> AsyncIterator[TransportStreams]:
    """This process's own stdin and stdout as a server's streams, so that a signal ends them.

    While it serves, descriptor 1 is stderr: what tools print is no message.
    """
    loop = asyncio.get_running_loop()
    wire_in, wire_out = os.dup(0), os.dup(1)
    os.dup2(2, 1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    copies: list[threading.Thread] = []
    if not _can_be_awaited(wire_in):
        source, wire_in = wire_in, (ends := os.pipe())[0]
        _copy(source, ends[1])
    if not _can_be_awaited(wire_out):
        target, wire_out = wire_out, (ends := os.pipe())[1]
        copies.append(_copy(ends[0], target))
    reader = asyncio.StreamReader(limit=MAX_LINE_BYTES)
    in_pipe, _ = await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(wire_in, "rb", buffering=0)
    )
    out_pipe, flow = await loop.connect_write_pipe(
        asyncio.streams.FlowControlMixin, os.fdopen(wire_out, "wb", buffering=0)
    )
    writer = asyncio.StreamWriter(out_pipe, flow, None, loop)
    to_session, inbox = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outbox, from_session = anyio.create_memory_object_stream[SessionMessage](0)
    tasks = [
        asyncio.create_task(_read(reader, to_session, LogBuffer())),
        asyncio.create_task(_write(writer, from_session, to_session)),
    ]
    try:
        yield inbox, outbox
    finally:
        for stream in (to_session, inbox, outbox):
            stream.close()
        # The last answers are still on their way out.
        await asyncio.wait(tasks[1:], timeout=LAST_WORDS_SECONDS)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        from_session.close()
        in_pipe.close()
        out_pipe.close()
        # The transports close their pipes in the loop's next turn.
        await asyncio.sleep(0)
        for copy in copies:
            copy.join(LAST_WORDS_SECONDS)


def _can_be_awaited(descriptor: int) -> bool:
    """Whether the loop can wait for it: files and /dev/null are always ready."""
    with selectors.DefaultSelector() as selector:
        try:
            selector.register(descriptor, selectors.EVENT_READ)
        except PermissionError:
            return False
    return True


def _copy(source: int, target: int) -> threading.Thread:
    """Copies until `source` ends, and closes both.

    Only for files, which never keep a thread waiting; with a pipe that waits it would stay.
    """

    def run() -> None:
        with (
            contextlib.suppress(BrokenPipeError),
            os.fdopen(source, "rb", 0) as read,
            os.fdopen(target, "wb", 0) as write,
        ):
            while chunk := read.read(1 << 16):
                write.write(chunk)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread


async def _read(
    stdout: asyncio.StreamReader,
    to_session: MemoryObjectSendStream[SessionMessage | Exception],
    log: LogBuffer,
) -> None:
    with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
        try:
            while line := await next_line(stdout):
                found = messages(line)
                for message in found:
                    await to_session.send(SessionMessage(message))
                if isinstance(line, LongLine):
                    log.write(b"a line over the limit of 64 MiB was dropped\n")
                elif not found:
                    log.write(line)
        finally:
            to_session.close()


async def _write(
    stdin: asyncio.StreamWriter,
    from_session: MemoryObjectReceiveStream[SessionMessage],
    to_session: MemoryObjectSendStream[SessionMessage | Exception],
) -> None:
    try:
        async for message in from_session:
            text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
            stdin.write(text.encode("utf-8", "replace") + b"\n")
            await stdin.drain()
    except (OSError, anyio.ClosedResourceError):
        # The session must see the end of the connection rather than wait for answers.
        to_session.close()


async def _drain_stderr(stderr: asyncio.StreamReader, log: LogBuffer) -> None:
    while chunk := await stderr.read(8192):
        log.write(chunk)


async def _stop(
    process: asyncio.subprocess.Process,
    stdin: asyncio.StreamWriter,
    tasks: list[asyncio.Task[None]],
) -> None:
    stdin.close()
    try:
        if not await _exited(process, STOP_SECONDS):
            _signal_group(process.pid, signal.SIGTERM)
            if not await _exited(process, KILL_SECONDS):
                _signal_group(process.pid, signal.SIGKILL)
                await _exited(process, KILL_SECONDS)
    finally:
        # Children that outlived the server are still in its group.
        _signal_group(process.pid, signal.SIGKILL)
    await asyncio.wait(tasks[:2], timeout=LAST_WORDS_SECONDS)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    # A process outside the group may hold the pipes open; without this the transport stays.
    transport = getattr(process, "_transport", None)
    if transport is not None:
        with contextlib.suppress(PermissionError):
            transport.close()


async def _exited(process: asyncio.subprocess.Process, seconds: float) -> bool:
    # Not process.wait(): it also waits for the pipes, which grandchildren may hold open.
    deadline = asyncio.get_running_loop().time() + seconds
    while process.returncode is None:
        if asyncio.get_running_loop().time() >= deadline:
            return False
        await asyncio.sleep(0.01)
    return True


def _signal_group(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)
