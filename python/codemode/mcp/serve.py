"""`codemode serve`: one MCP server in front of the servers of a configuration file."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import os
import secrets
import signal
import socket
import sys
from typing import TYPE_CHECKING

from ..config import CodeModeConfig, ConfigError
from .config import McpConfig, McpConfigError
from .extra import ExtraMissing, require_extra
from .references import BadReference, load_tools

if TYPE_CHECKING:
    import argparse
    from collections.abc import AsyncIterator

    from starlette.types import ASGIApp, Receive, Send
    from starlette.types import Scope as AsgiScope

    from ..tools import Tool
    from .server import CodeModeServer

TOKEN_VARIABLE = "CODEMODE_SERVE_TOKEN"  # noqa: S105 - a name, not a token
ENDPOINT = "/mcp"
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


class ServeError(Exception):
    """What was asked for cannot be served; the text is for the person who asked."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options of `codemode serve` to `parser`."""
    parser.add_argument("--mcp", metavar="FILE", help="configuration with mcpServers (JSON)")
    parser.add_argument(
        "--tools",
        metavar="MODULE:ATTR",
        action="append",
        default=[],
        help="Python tools: a Tool, a list of them, or a function that gives one; repeatable",
    )
    parser.add_argument(
        "--http",
        action="store_true",
        help=f"serve streamable HTTP instead of stdio; clients need the token in {TOKEN_VARIABLE}",
    )
    parser.add_argument("--host", default="127.0.0.1", help="address for --http (default loopback)")
    parser.add_argument("--port", type=int, default=8765, help="port for --http, 0 for any")
    parser.add_argument("--timeout-ms", type=int, help="deadline of one exec or wait")


def run(args: argparse.Namespace) -> int:
    """Serves until the client leaves or a signal comes.

    Returns:
        Exit status: 0, or 2 if it could not be served; the reason is on stderr.
    """
    try:
        require_extra()
        config = McpConfig() if args.mcp is None else McpConfig.load(args.mcp)
        tools = tuple(tool for spec in args.tools for tool in load_tools(spec))
        if not config.servers and not tools:
            _say("nothing to serve: give --mcp FILE with servers, or --tools")
            return 2
        settings = CodeModeConfig.parse(config.code_mode).merge({"enabled": True})
        if args.timeout_ms is not None:
            settings = settings.merge({"timeoutMs": args.timeout_ms})
        if not args.http and (sys.stdin is None or sys.stdout is None):
            _say("stdin or stdout is closed, but they lead to the client; or serve with --http")
            return 2
        for note in config.notes:
            _say(note)
        asyncio.run(_main(config, settings, tools, args))
    except (ConfigError, McpConfigError, BadReference, ExtraMissing, ServeError) as error:
        _say(str(error))
        return 2
    return 0


async def _main(
    config: McpConfig, settings: CodeModeConfig, tools: tuple[Tool, ...], args: argparse.Namespace
) -> None:
    async def serve() -> None:
        async with front(config, settings, tools) as app:
            await (_http(app, args.host, args.port) if args.http else _stdio(app))

    serving = asyncio.create_task(serve())
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, serving.cancel)
    await asyncio.wait([serving])
    if not serving.cancelled():
        serving.result()


@contextlib.asynccontextmanager
async def front(
    config: McpConfig, settings: CodeModeConfig, tools: tuple[Tool, ...] = ()
) -> AsyncIterator[CodeModeServer]:
    """Starts the back ends and code mode, and gives the server in front of them.

    Args:
        config: The back ends.
        settings: Limits of code mode.
        tools: Python tools besides.
    """
    from ..session import CodeMode
    from .bridge import McpBridge
    from .manager import McpServers
    from .server import CodeModeServer

    async with McpServers(config, ready_within=0) as servers, CodeMode(settings) as code_mode:
        app = CodeModeServer(code_mode, servers, McpBridge(servers), tools)
        try:
            yield app
        finally:
            await app.close()


async def _stdio(app: CodeModeServer) -> None:
    from .transport import own_pipes

    async with own_pipes() as (inbox, outbox):
        await app.server.run(inbox, outbox, app.options)


async def _http(app: CodeModeServer, host: str, port: int) -> None:
    import uvicorn

    token = os.environ.get(TOKEN_VARIABLE, "")
    if not token:
        if host not in _LOOPBACK:
            raise ServeError(f"{TOKEN_VARIABLE} must be set to serve on {host}")
        token = secrets.token_urlsafe(24)
        _say(f"token for this run (set {TOKEN_VARIABLE} to choose one): {token}")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family)
    except OSError as error:
        raise ServeError(f"cannot listen on {host} port {port}: {error.strerror}") from error
    config = uvicorn.Config(
        http_app(app, token, host), log_level="warning", timeout_graceful_shutdown=2
    )
    shown = f"[{host}]" if ":" in host else host
    _say(f"serving on http://{shown}:{listener.getsockname()[1]}{ENDPOINT}")
    server = uvicorn.Server(config)
    # Signals are ours: uvicorn would end the process before the back ends are stopped.
    server.capture_signals = contextlib.nullcontext  # type: ignore[method-assign, assignment]
    with listener:
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            await asyncio.shield(serving)
        except asyncio.CancelledError:
            server.should_exit = True
            await serving
            raise


def http_app(app: CodeModeServer, token: str, host: str = "127.0.0.1") -> ASGIApp:
    """The server as an ASGI application that wants `Authorization: Bearer <token>`."""
    inner = app.server.streamable_http_app(streamable_http_path=ENDPOINT, host=host)
    expected = f"Bearer {token}".encode()

    async def guarded(scope: AsgiScope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            given = dict(scope["headers"]).get(b"authorization", b"")
            if not hmac.compare_digest(given, expected):
                headers = [(b"www-authenticate", b"Bearer"), (b"content-length", b"0")]
                await send({"type": "http.response.start", "status": 401, "headers": headers})
                await send({"type": "http.response.body", "body": b""})
                return
        await inner(scope, receive, send)

    return guarded


def _say(words: str) -> None:
    # stdout is the protocol's.
    sys.stderr.write(f"codemode serve: {words}\n")
    sys.stderr.flush()
