"""Runs the configured MCP servers: one owner task for each, started together.

A server that is dead, slow or broken never delays another one. What the servers offer is read
from immutable snapshots; a server that ended is started again, with growing pauses, when it is
used next.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from .extra import require_extra
from .owner import McpUnavailable, Owner
from .snapshot import McpSnapshot, ServerView

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Mapping
    from types import TracebackType

    from mcp.shared.dispatcher import ProgressFnT

    from .config import McpConfig
    from .connection import Connection


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
        self._owners = {s.name: Owner(s, self._publish) for s in config.servers}

    async def __aenter__(self) -> McpServers:
        """Starts the servers.

        Raises:
            ExtraMissing: The packages for MCP are not installed.
        """
        require_extra()
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

    @property
    def direct(self) -> frozenset[str]:
        """The servers that may have tools which the model calls itself."""
        return frozenset(n for n, owner in self._owners.items() if owner.config.direct_only)

    async def settled(self, seconds: float, names: Collection[str] | None = None) -> McpSnapshot:
        """Waits until no server is starting or reading a changed list, at most `seconds`.

        Args:
            seconds: Longest wait.
            names: Which servers to wait for; all of them if None.
        """
        await self._wait(seconds, names, asyncio.ALL_COMPLETED)
        return self._snapshot

    async def first_ready(self, seconds: float) -> McpSnapshot:
        """Waits until one server is ready or none is starting, at most `seconds`."""
        loop = asyncio.get_running_loop()
        end = loop.time() + seconds
        while not any(view.status == "ready" for view in self._snapshot.servers):
            starting = [name for name, owner in self._owners.items() if not owner.settled.is_set()]
            if not starting or loop.time() >= end:
                break
            await self._wait(end - loop.time(), starting, asyncio.FIRST_COMPLETED)
        return self._snapshot

    async def _wait(self, seconds: float, names: Collection[str] | None, until: str) -> None:
        waits = [
            asyncio.ensure_future(owner.settled.wait())
            for name, owner in self._owners.items()
            if (names is None or name in names) and not owner.settled.is_set()
        ]
        if waits:
            try:
                await asyncio.wait(waits, timeout=seconds, return_when=until)
            finally:
                for wait in waits:
                    wait.cancel()

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

    def _owner(self, server: str) -> Owner:
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
