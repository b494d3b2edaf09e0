"""One live connection to a server, on the official SDK.

Answers are taken raw, before the SDK's models see them: one tool with a malformed schema would
otherwise remove its whole page, and a result with an unknown content item would be lost.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from typing import TYPE_CHECKING, Any

import anyio
import httpx2
import mcp_types as types
from mcp.client.session import ClientSession
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.shared.exceptions import MCPError
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp.shared.transport_context import TransportContext

from .config import ServerConfig, StdioServer
from .lines import MAX_LINE_BYTES
from .transport import child_process

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from mcp.client._transport import TransportStreams
    from mcp.shared.dispatcher import CallOptions, ProgressFnT

    from .log import LogBuffer

MAX_PAGES = 1000
MAX_ENTRIES = 20_000

_VERSION_REFUSED = (types.UNSUPPORTED_PROTOCOL_VERSION, types.METHOD_NOT_FOUND)
_LISTS = {
    "notifications/tools/list_changed",
    "notifications/resources/list_changed",
    "notifications/prompts/list_changed",
}


class ConnectionLost(Exception):
    """The connection ended, or the server knows it no more; nothing is known of the request."""

    def __init__(self, message: str, *, never_ran: bool = False) -> None:
        """Keeps whether the server refused the request before it looked at it."""
        super().__init__(message)
        self.never_ran = never_ran


class ServerError(Exception):
    """The server answered a request with a protocol error."""


class _Dispatcher(JSONRPCDispatcher[TransportContext]):
    """Tells when the receive loop has ended, which the SDK keeps to itself."""

    def __init__(self, streams: TransportStreams) -> None:
        super().__init__(*streams)
        self.ended = asyncio.Event()

    async def run(self, *args: Any, **kwargs: Any) -> None:
        try:
            await super().run(*args, **kwargs)
        finally:
            self.ended.set()


class Connection:
    """Requests to one server."""

    def __init__(self, session: ClientSession, dispatcher: _Dispatcher) -> None:
        """Takes an entered session; `connect` makes one."""
        self._session = session
        self._dispatcher = dispatcher
        self.ended = dispatcher.ended

    @property
    def capabilities(self) -> types.ServerCapabilities:
        """What the server offers."""
        return self._session.server_capabilities or types.ServerCapabilities()

    @property
    def instructions(self) -> str | None:
        """The server's own words on how to use it; untrusted."""
        return self._session.instructions

    async def handshake(self) -> None:
        """Initialises the session.

        The handshake that every server knows comes first: a server that speaks only the newest
        revision refuses it at once, while an old one may never answer the newest revision's probe.
        """
        try:
            await self._session.initialize()
        except MCPError as e:
            if e.code not in _VERSION_REFUSED:
                raise
            await self._session.discover()

    async def request(
        self,
        method: str,
        params: dict[str, Any],
        *,
        seconds: float,
        on_progress: ProgressFnT | None = None,
    ) -> dict[str, Any]:
        """Sends a request and gives the raw result. Cancelling it tells the server.

        Raises:
            TimeoutError: No answer within `seconds`; the server was told to stop.
            ConnectionLost: The connection ended first.
            ServerError: The server refused; its message.
        """
        options: CallOptions = {}
        data: dict[str, Any] = {"method": method, "params": params}
        # The session's headers and, in the newest revision, its envelope in `_meta`.
        self._session._stamp(data, options)  # noqa: SLF001
        if on_progress is not None:
            options["on_progress"] = on_progress
        try:
            with anyio.fail_after(seconds):
                return await self._dispatcher.send_raw_request(method, data["params"], options)
        except MCPError as e:
            # Servers use the same code for errors of their own.
            if e.code == types.CONNECTION_CLOSED and e.message == "Connection closed":
                raise ConnectionLost("the connection to the server ended") from e
            if e.code == types.INVALID_REQUEST and e.message == "Session terminated":
                raise ConnectionLost("the server ended the session", never_ran=True) from e
            raise ServerError(e.message) from e

    async def listing(self, method: str, key: str, seconds: float) -> tuple[list[Any], list[str]]:
        """Reads all pages of a list.

        Returns:
            The raw entries, and a sentence for each thing that cut the list short.
        """
        entries: list[Any] = []
        seen: set[str] = set()
        cursor: str | None = None
        for _ in range(MAX_PAGES):
            page = await self.request(
                method, {} if cursor is None else {"cursor": cursor}, seconds=seconds
            )
            found = page.get(key)
            entries.extend(found if isinstance(found, list) else [])
            cursor = page.get("nextCursor")
            if not isinstance(cursor, str):
                return entries, []
            if cursor in seen:
                return entries, [f"{method}: the server repeats the page {cursor[:40]!r}"]
            if len(entries) >= MAX_ENTRIES:
                return entries[:MAX_ENTRIES], [f"{method}: cut at {MAX_ENTRIES} entries"]
            seen.add(cursor)
        return entries, [f"{method}: cut at {MAX_PAGES} pages"]


@contextlib.asynccontextmanager
async def connect(
    server: ServerConfig, log: LogBuffer, on_list_changed: Callable[[], None]
) -> AsyncIterator[Connection]:
    """Opens the transport and a session on it; must be entered and left by one task.

    Args:
        server: Where to connect.
        log: Takes what the server writes to stderr.
        on_list_changed: Called when a list of the server has changed.
    """

    async def on_message(message: types.ServerNotification | Exception) -> None:
        if not isinstance(message, Exception) and message.method in _LISTS:
            on_list_changed()

    async with contextlib.AsyncExitStack() as stack:
        streams = await stack.enter_async_context(_transport(server, log))
        dispatcher = _Dispatcher(streams)
        session = await stack.enter_async_context(
            ClientSession(
                dispatcher=dispatcher,
                message_handler=on_message,
                client_info=types.Implementation(name="codemode", version="1"),
            )
        )
        yield Connection(session, dispatcher)


@contextlib.asynccontextmanager
async def _transport(server: ServerConfig, log: LogBuffer) -> AsyncIterator[TransportStreams]:
    where = server.transport
    if isinstance(where, StdioServer):
        async with child_process(where, log) as streams:
            yield streams
        return
    timeout = httpx2.Timeout(30.0, read=server.call_seconds + 5)
    client = create_mcp_http_client(dict(where.headers), timeout)

    async def note(response: httpx2.Response) -> None:
        # The SDK reports a refusal without its status. (A GET may be refused; it is optional.)
        if response.status_code >= 400 and response.request.method == "POST":
            log.write(f"HTTP {response.status_code} {response.reason_phrase}\n".encode())

    client.event_hooks = {"response": [note]}
    async with (
        client,
        streamable_http_client(
            where.url, http_client=client, max_sse_event_size=MAX_LINE_BYTES
        ) as streams,
    ):
        yield streams


def reason(error: BaseException) -> str:
    """One line that says why a connection failed, without paths of this program."""
    while inner := getattr(error, "exceptions", None):  # an exception group of any origin
        error = inner[0]
    if isinstance(error, TimeoutError):
        return "timed out"
    if isinstance(error, httpx2.HTTPError):
        return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    if isinstance(error, OSError) and error.errno:
        return os.strerror(error.errno)
    return str(error) or type(error).__name__
