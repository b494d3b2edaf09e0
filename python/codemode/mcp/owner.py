"""One configured server, kept connected by a task of its own."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from .log import LogBuffer
from .snapshot import ServerView, read_tools

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    import anyio

    from .config import ServerConfig
    from .connection import Connection

FIRST_PAUSE_SECONDS = 0.25
LONGEST_PAUSE_SECONDS = 30.0
LONGEST_WAIT_SECONDS = 5.0
STABLE_SECONDS = 30.0


class McpUnavailable(Exception):
    """A server cannot be used now; the message names it and says why."""


class McpCallError(Exception):
    """A server did not carry out a request; the message names it and says why."""


@dataclass(slots=True)
class _Pauses:
    """How long to wait before the next start of a server that keeps ending."""

    next_seconds: float = 0.0
    not_before: float = 0.0

    def failed(self, now: float, lived_seconds: float) -> None:
        if lived_seconds >= STABLE_SECONDS:
            self.next_seconds = 0.0
        self.not_before = now + self.next_seconds
        doubled = max(FIRST_PAUSE_SECONDS, self.next_seconds * 2)
        self.next_seconds = min(LONGEST_PAUSE_SECONDS, doubled)


class Owner:
    """Keeps one server connected. Its task alone enters and leaves the connection.

    Attributes:
        config: Which server.
        log: What it wrote besides the protocol.
        settled: Set while it is neither starting nor reading a changed list.
    """

    def __init__(self, config: ServerConfig, publish: Callable[[ServerView], None]) -> None:
        """Starts nothing yet; `publish` gets each new view of the server."""
        self.config = config
        self.log = LogBuffer()
        self.settled = asyncio.Event()
        self._publish = publish
        self._view = ServerView(name=config.name)
        self._connection: Connection | None = None
        self._pauses = _Pauses()
        self._wanted = asyncio.Event()
        self._changed = asyncio.Event()
        # The outcome of the next start, for those who wait for it.
        self._next: asyncio.Future[Connection] | None = None
        self._task: asyncio.Task[None] | None = None
        self._scope: anyio.CancelScope

    def start(self) -> None:
        """Starts the task, and with it the server."""
        import anyio

        self._scope = anyio.CancelScope()
        self._wanted.set()
        self._task = asyncio.create_task(self._run(), name=f"mcp server {self.config.name}")

    def want(self) -> None:
        """Starts the server now if it is not in a pause."""
        if self._pause() <= 0:
            self._wanted.set()

    async def stop(self) -> None:
        """Ends the task and the server."""
        if self._task is not None:
            # Not `task.cancel()`: the scope lets a shutdown that is under way come to its end.
            self._scope.cancel()
            await asyncio.wait([self._task])

    async def use(self, send: Callable[[Connection, float], Awaitable[Any]]) -> Any:
        """Runs `send` on a live connection, once more if the server never looked at it.

        Raises:
            McpUnavailable: The server is not there.
            McpCallError: It refused, took too long, or ended in the middle.
        """
        from .connection import ConnectionLost, ServerError

        name = self.config.name
        for last in (False, True):
            connection = await self._connected()
            try:
                return await send(connection, self.config.call_seconds)
            except ServerError as e:
                raise McpCallError(f"{name}: {e}") from e
            except TimeoutError as e:
                limit = f"{self.config.call_seconds:g} s"
                raise McpCallError(f"{name}: no answer within {limit} (timeouts.call)") from e
            except ConnectionLost as e:
                connection.ended.set()
                if last or not e.never_ran:
                    raise McpCallError(
                        f"{name}: {e}; whether the call had an effect is not known"
                    ) from e
        raise AssertionError("unreachable")

    async def _connected(self) -> Connection:
        if self._connection is not None and not self._connection.ended.is_set():
            return self._connection
        if self._task is None or self._task.done():
            raise self._unavailable("it is stopped")
        if self._pause() > LONGEST_WAIT_SECONDS:
            raise self._unavailable(f"{self._view.reason}; next try in {self._pause():.0f} s")
        if self._next is None:
            self._next = asyncio.get_running_loop().create_future()
        self._wanted.set()
        return await asyncio.shield(self._next)

    def _unavailable(self, reason: str) -> McpUnavailable:
        return McpUnavailable(f"MCP server {self.config.name!r} is unavailable: {reason}")

    def _pause(self) -> float:
        return self._pauses.not_before - asyncio.get_running_loop().time()

    async def _run(self) -> None:
        try:
            with self._scope:
                while True:
                    await self._one_life()
        finally:
            self._connection = None
            self.settled.set()
            self._answer_waiting(self._unavailable("it is stopped"))

    async def _one_life(self) -> None:
        """Waits until the server is wanted and runs it until it ends or fails."""
        loop = asyncio.get_running_loop()
        await self._wanted.wait()
        await asyncio.sleep(max(0.0, self._pause()))
        self._wanted.clear()
        began = loop.time()
        try:
            await self._serve()
        except Exception as e:  # noqa: BLE001 - a server's failure is its own
            self._failed(e)
        self._connection = None
        self._pauses.failed(loop.time(), loop.time() - began)
        self.settled.set()

    async def _serve(self) -> None:
        """Connects, publishes, and follows the list changes until the connection ends."""
        from .connection import connect  # the SDK takes half a second to import

        async with connect(self.config, self.log, self._list_changed) as connection:
            try:
                view = await self._hello(connection)
            except TimeoutError as e:
                # Told before the slow server is stopped, which takes seconds more.
                self._failed(e)
                self.settled.set()
                raise
            self._connection = connection
            self._show(view)
            self._answer_waiting(connection)
            self.settled.set()
            while not connection.ended.is_set():
                if await self._change_or_end(connection):
                    await self._refresh(connection)
            self._connection = None

    async def _hello(self, connection: Connection) -> ServerView:
        import anyio

        with anyio.fail_after(self.config.start_seconds):
            await connection.handshake()
            return await self._read(connection)

    def _answer_waiting(self, outcome: Connection | McpUnavailable) -> None:
        waiting, self._next = self._next, None
        if waiting is None or waiting.done():
            return
        if isinstance(outcome, McpUnavailable):
            waiting.set_exception(outcome)
            waiting.exception()  # read here, so that a caller who left is no complaint
        else:
            waiting.set_result(outcome)

    async def _change_or_end(self, connection: Connection) -> bool:
        waits = [asyncio.ensure_future(e.wait()) for e in (self._changed, connection.ended)]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
        return self._changed.is_set()

    async def _refresh(self, connection: Connection) -> None:
        """Reads the lists again; if that fails the old ones stay."""
        self._changed.clear()
        with contextlib.suppress(Exception):
            self._show(await self._read(connection))
        if not self._changed.is_set():
            self.settled.set()

    async def _read(self, connection: Connection) -> ServerView:
        capabilities = connection.capabilities
        entries: list[Any] = []
        notes: list[str] = []
        if capabilities.tools is not None:
            entries, notes = await connection.listing(
                "tools/list", "tools", self.config.start_seconds
            )
        tools, dropped = read_tools(self.config, entries)
        return ServerView(
            name=self.config.name,
            status="ready",
            tools=tools,
            resources=capabilities.resources is not None,
            prompts=capabilities.prompts is not None,
            instructions=connection.instructions or "",
            notes=tuple(notes + dropped),
        )

    def _list_changed(self) -> None:
        self.settled.clear()
        self._changed.set()

    def _failed(self, error: Exception) -> None:
        from .connection import reason

        if isinstance(error, TimeoutError):
            why = f"not ready within {self.config.start_seconds:g} s (timeouts.start)"
        elif self.log.status is not None:
            why = f"it exited with status {self.log.status}"
        else:
            why = reason(error)
        if line := self.log.last_line():
            why = f"{why}; it said: {line}"
        # What it offered before stays callable: the next use starts it again.
        if self._view.status != "ready":
            self._show(ServerView(name=self.config.name, status="unavailable", reason=why))
        else:
            self._view = replace(self._view, reason=why)
        self._answer_waiting(self._unavailable(why))

    def _show(self, view: ServerView) -> None:
        self._view = view
        self._publish(view)
