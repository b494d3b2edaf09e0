"""Runs the configured MCP servers: one owner task for each, started together.

A server that is dead, slow or broken never delays another one. What the servers offer is read
from immutable snapshots; a server that ended is started again, with growing pauses, when it is
used next.
"""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from .log import LogBuffer
from .snapshot import McpSnapshot, ServerView, read_tools

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from types import TracebackType

    import anyio
    from mcp.shared.dispatcher import ProgressFnT

    from .config import McpConfig, ServerConfig
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


class McpServers:
    """The servers of one configuration, as an async context manager.

    Entering starts all of them and waits until each is ready or has failed, at most
    `ready_within` seconds; later ones join when they are ready. Leaving stops them and their
    child processes within a few seconds.
    """

    def __init__(self, config: McpConfig, *, ready_within: float = 5.0) -> None:
        """Starts nothing yet.

        Args:
            config: Which servers.
            ready_within: Longest wait of `async with`, seconds; 0 to go on at once.
        """
        self._ready_within = ready_within
        self._views = {s.name: ServerView(name=s.name) for s in config.servers}
        self._snapshot = McpSnapshot(servers=tuple(self._views.values()))
        self._owners = {s.name: _Owner(s, self._publish) for s in config.servers}

    async def __aenter__(self) -> McpServers:
        """Starts the servers."""
        for owner in self._owners.values():
            owner.start()
        try:
            await self.settled(self._ready_within)
        except BaseException:
            await self._stop()
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stops the servers."""
        await self._stop()

    @property
    def snapshot(self) -> McpSnapshot:
        """What is known now. Two reads with nothing changed give the same object."""
        return self._snapshot

    async def settled(self, seconds: float) -> McpSnapshot:
        """Waits until no server is starting or reading a changed list, at most `seconds`."""
        waits = [asyncio.ensure_future(o.settled.wait()) for o in self._owners.values()]
        if waits:
            try:
                await asyncio.wait(waits, timeout=seconds)
            finally:
                for wait in waits:
                    wait.cancel()
        return self._snapshot

    def wake(self) -> None:
        """Starts those servers again that are not ready, unless they are in a pause."""
        for name, owner in self._owners.items():
            if self._views[name].status == "unavailable":
                owner.want()

    def stderr(self, server: str) -> str:
        """The last 64 KiB that a server wrote to stderr, and stray lines of its stdout.

        Raises:
            KeyError: No server has that name.
        """
        return self._owners[server].log.text()

    async def call_tool(
        self,
        server: str,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        on_progress: ProgressFnT | None = None,
    ) -> dict[str, Any]:
        """Calls a tool. Cancelling the call tells the server.

        Args:
            server: Its name.
            tool: The tool's own name.
            arguments: Sent as they are.
            on_progress: Awaited with `(progress, total, message)` for each progress notification.

        Returns:
            The raw result of `tools/call`; see `results.call_result`.

        Raises:
            McpUnavailable: The server is not there.
            McpCallError: It refused, took too long, or ended in the middle of the call.
        """
        params = {"name": tool, "arguments": dict(arguments)}
        return await self.request(server, "tools/call", params, on_progress=on_progress)

    async def request(
        self,
        server: str,
        method: str,
        params: dict[str, Any],
        *,
        on_progress: ProgressFnT | None = None,
    ) -> dict[str, Any]:
        """Sends any request; as `call_tool`.

        Raises:
            McpUnavailable: The server is not there.
            McpCallError: It refused, took too long, or ended in the middle of the request.
        """
        owner = self._owner(server)
        send = _send(method, params, on_progress)
        answer: dict[str, Any] = await owner.use(send)
        return answer

    async def listing(self, server: str, method: str, key: str) -> list[Any]:
        """Reads all pages of a list of the server; errors as in `call_tool`."""
        owner = self._owner(server)

        async def send(connection: Connection, seconds: float) -> list[Any]:
            entries, _ = await connection.listing(method, key, seconds)
            return entries

        found: list[Any] = await owner.use(send)
        return found

    def _owner(self, server: str) -> _Owner:
        if server not in self._owners:
            known = ", ".join(self._owners) or "none"
            raise McpUnavailable(f"no MCP server is called {server!r}; there are: {known}")
        return self._owners[server]

    def _publish(self, view: ServerView) -> None:
        if self._views[view.name] != view:
            self._views[view.name] = view
            version = self._snapshot.version + 1
            self._snapshot = McpSnapshot(version=version, servers=tuple(self._views.values()))

    async def _stop(self) -> None:
        await asyncio.gather(*(owner.stop() for owner in self._owners.values()))


def _send(
    method: str, params: dict[str, Any], on_progress: ProgressFnT | None
) -> Callable[[Connection, float], Awaitable[dict[str, Any]]]:
    async def send(connection: Connection, seconds: float) -> dict[str, Any]:
        return await connection.request(method, params, seconds=seconds, on_progress=on_progress)

    return send


class _Owner:
    """Keeps one server connected. Its task alone enters and leaves the connection."""

    def __init__(self, config: ServerConfig, publish: Callable[[ServerView], None]) -> None:
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
        import anyio

        self._scope = anyio.CancelScope()
        self._wanted.set()
        self._task = asyncio.create_task(self._run(), name=f"mcp server {self.config.name}")

    def want(self) -> None:
        """Starts the server now if it is not in a pause."""
        if self._pause() <= 0:
            self._wanted.set()

    async def stop(self) -> None:
        if self._task is not None:
            # Not `task.cancel()`: the scope lets a shutdown that is under way come to its end.
            self._scope.cancel()
            await asyncio.wait([self._task])

    async def use(self, send: Callable[[Connection, float], Awaitable[Any]]) -> Any:
        """Runs `send` on a live connection, once more if the server never looked at it."""
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
