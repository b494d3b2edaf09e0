"""Code mode as an MCP server: exec, wait and direct-only tools in front of other servers.

One MCP session is one run: its cells are its own and end with it. Over the newest revision's
HTTP, which has no sessions, all requests of one server share a run; run ids are unguessable.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import time
from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING, Any

import mcp_types as types
from mcp.server.lowlevel import NotificationOptions, Server
from pydantic import TypeAdapter, ValidationError

from .. import __version__
from ..policy import Hooks
from ..scope import Scope
from ..surface import EXEC, WAIT
from ..tools import ToolResult
from .surface import McpSurface

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext
    from mcp.server.models import InitializationOptions

    from ..models import Result
    from ..run import CodeModeRun
    from ..session import CodeMode
    from ..tools import Tool
    from .bridge import McpBridge
    from .manager import McpServers

# How long a request waits for those servers that it needs and that are still starting.
PATIENCE_SECONDS = 10.0
# How long a program waits for servers that are reading their changed lists.
REFRESH_SECONDS = 2.0
HEARTBEAT_SECONDS = 2.0
LEAST_PAUSE_SECONDS = 0.05

INSTRUCTIONS = (
    "Write one program with exec instead of calling tools one by one; the tools of all connected "
    "servers are inside it. If a result says waiting, call wait with its runId."
)
_BLOCK: TypeAdapter[types.ContentBlock] = TypeAdapter(types.ContentBlock)


class CodeModeServer:
    """The handlers of the server, and one run for each session."""

    def __init__(
        self,
        code_mode: CodeMode,
        servers: McpServers,
        bridge: McpBridge,
        tools: tuple[Tool, ...] = (),
    ) -> None:
        """Serves `tools` and those of `servers`; both must be running while it serves."""
        self._code_mode = code_mode
        self._servers = servers
        self._bridge = bridge
        self._tools = tools
        self._surface = McpSurface(servers)
        self._sessions: dict[object, _Session] = {}
        self.server: Server[Any] = Server(
            "codemode",
            version=__version__,
            title="Code mode",
            instructions=INSTRUCTIONS,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
        )

    @property
    def options(self) -> InitializationOptions:
        """What `initialize` answers."""
        return self.server.create_initialization_options(NotificationOptions(tools_changed=True))

    @property
    def sessions(self) -> int:
        """Sessions that are open and have used a tool or listed them."""
        return len(self._sessions)

    async def close(self) -> None:
        """Ends all sessions."""
        await asyncio.gather(*(session.run.close() for session in self._sessions.values()))
        self._sessions.clear()

    async def _list_tools(
        self, ctx: ServerRequestContext[Any], _: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        # exec reads alike whichever servers there are, but for whether there is one at all.
        await self._servers.first_ready(PATIENCE_SECONDS)
        await self._servers.settled(PATIENCE_SECONDS, self._servers.direct)
        session = self._session(ctx)
        session.listed = session.run.model_tools
        return types.ListToolsResult(
            tools=[
                types.Tool(
                    name=tool.name,
                    description=tool.description,
                    input_schema=_object_schema(tool.parameters),
                )
                for tool in session.listed
            ]
        )

    async def _call_tool(
        self, ctx: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        await self._servers_for(params.name, params.arguments or {})
        session = self._session(ctx)
        if session.listed is not None and session.listed != session.run.model_tools:
            session.listed = None  # told once, until it lists again
            await ctx.session.send_tool_list_changed()
        call_id = f"{params.name}-{next(session.numbers)}"
        async with _progress(ctx, session, params.name, call_id):
            result = await session.run.call(params.name, params.arguments or {}, call_id=call_id)
        return _content(result) if isinstance(result, ToolResult) else _outcome(result)

    async def _servers_for(self, name: str, arguments: Mapping[str, Any]) -> None:
        """Waits for the servers that a call needs; one that hangs delays nobody else."""
        if name == WAIT:
            return  # a cell keeps the view that it began with
        if name == EXEC:
            needed = self._surface.named_in(str(arguments.get("code")))
            ready = [v.name for v in self._servers.snapshot.servers if v.status == "ready"]
            await self._servers.settled(REFRESH_SECONDS, ready)
        else:
            needed = set(self._servers.direct)
        await self._servers.settled(PATIENCE_SECONDS, needed)

    def _session(self, ctx: ServerRequestContext[Any]) -> _Session:
        """The session of a request, with the tools that there are now."""
        self._servers.wake()
        tools = (*self._tools, *self._bridge.tools())
        # The SDK makes the session object anew for each request; the connection is what lasts.
        connection = ctx.session._connection  # noqa: SLF001
        lasting = ctx.request is None or connection.session_id is not None
        key: object = connection.session_id if ctx.request is not None else "stdio"
        session = self._sessions.get(key)
        if session is None:
            session = self._sessions[key] = _Session(self._code_mode, tools, self._surface)
            if lasting and ctx.request is not None:
                connection.exit_stack.push_async_callback(self._end, key)
        session.update(tools)
        return session

    async def _end(self, key: object) -> None:
        session = self._sessions.pop(key, None)
        if session is not None:
            await session.run.close()


class _Session:
    """One run and what its client has been told of it."""

    def __init__(self, code_mode: CodeMode, tools: tuple[Tool, ...], surface: McpSurface) -> None:
        self.events = _Events()
        self.numbers = itertools.count(1)
        self.listed: tuple[Any, ...] | None = None
        self._tools = tools
        self.run: CodeModeRun = code_mode.run(
            tools, scope=Scope(), hooks=self.events, extensions=[surface]
        )

    def update(self, tools: tuple[Tool, ...]) -> None:
        if tools != self._tools:
            self._tools = tools
            self.run.replace_tools(tools)


class _Events(Hooks):
    """Passes on what nested calls do to the progress of the outer ones that are running."""

    def __init__(self) -> None:
        self.listeners: dict[str, asyncio.Queue[Mapping[str, Any]]] = {}

    def on_event(self, event: Mapping[str, Any]) -> None:
        if "tool" in event:
            for queue in self.listeners.values():
                queue.put_nowait(event)


@contextlib.asynccontextmanager
async def _progress(
    ctx: ServerRequestContext[Any], session: _Session, name: str, call_id: str
) -> AsyncIterator[None]:
    """Reports progress while a call runs, if the client asked for it."""
    if "progress_token" not in (ctx.meta or {}):
        yield
        return
    queue: asyncio.Queue[Mapping[str, Any]] = asyncio.Queue()
    session.events.listeners[call_id] = queue
    kind = _report_program if name in (EXEC, WAIT) else _report_tool
    report = asyncio.create_task(kind(ctx, call_id, queue))
    try:
        yield
    finally:
        del session.events.listeners[call_id]
        report.cancel()
        await asyncio.wait([report])


async def _report_program(
    ctx: ServerRequestContext[Any], _: str, queue: asyncio.Queue[Mapping[str, Any]]
) -> None:
    """Of a program: the seconds so far, and what it is calling."""
    began = time.monotonic()
    while True:
        # Not `wait_for`: before Python 3.12 it loses a cancellation that comes with the event.
        coming = asyncio.ensure_future(queue.get())
        try:
            await asyncio.wait([coming], timeout=HEARTBEAT_SECONDS)
        finally:
            coming.cancel()
        event = coming.result() if coming.done() and not coming.cancelled() else None
        while not queue.empty():
            event = queue.get_nowait()
        seconds = round(time.monotonic() - began, 3)
        await ctx.session.report_progress(seconds, None, _words(event))
        await asyncio.sleep(LEAST_PAUSE_SECONDS)


async def _report_tool(
    ctx: ServerRequestContext[Any], call_id: str, queue: asyncio.Queue[Mapping[str, Any]]
) -> None:
    """Of a direct-only tool: what it reports itself."""
    while True:
        event = await queue.get()
        partial = event.get("partial")
        if event["callId"] != call_id or not isinstance(partial, Mapping):
            continue
        done, total, message = (partial.get(k) for k in ("progress", "total", "message"))
        if isinstance(done, (int, float)):
            whole = total if isinstance(total, (int, float)) else None
            await ctx.session.report_progress(
                done, whole, None if message is None else str(message)
            )


def _words(event: Mapping[str, Any] | None) -> str:
    if event is None:
        return "running"
    verb = {"call_start": "calling", "call_end": "done with"}.get(event["type"], "working on")
    partial = event.get("partial")
    said = partial.get("message") if isinstance(partial, Mapping) else None
    return f"{verb} {event['tool']}" + (f": {said}" if said else "")


def _outcome(result: Result) -> types.CallToolResult:
    """A result of exec or wait: readable text, and the same as structured content."""
    structured = result.to_dict()
    telemetry = structured.pop("telemetry")
    lines = [_text(item) for item in structured.get("output", ())]
    status = structured["status"]
    if status == "completed":
        value = structured["value"]
        lines.append(value if isinstance(value, str) else _json(value))
    elif status == "waiting":
        pending = ", ".join(call["tool"] for call in structured.get("pendingToolCalls", ()))
        after = f" for {pending}" if pending else ""
        lines.append(f"waiting{after}; continue with wait({_json({'runId': structured['runId']})})")
    else:
        lines.append(f"failed ({structured['code']}): {structured['error']}")
        if calls := structured.get("toolCalls"):
            done = ", ".join(f"{call['tool']} {call['status']}" for call in calls)
            lines.append(f"Calls that had been made, do not repeat them blindly: {done}")
    lines.extend(f"warning: {warning}" for warning in structured.get("warnings", ()))
    return types.CallToolResult(
        content=[types.TextContent(text="\n".join(lines))],
        structured_content=structured,
        is_error=status == "failed",
        _meta={"codemode/telemetry": telemetry},
    )


def _content(result: ToolResult) -> types.CallToolResult:
    """A result of a direct-only tool, images and all."""
    structured = result.details if result.has_details else None
    return types.CallToolResult(
        content=[_block(item) for item in result.content],
        structured_content=dict(structured) if isinstance(structured, Mapping) else None,
        is_error=result.is_error,
    )


def _block(item: Any) -> types.ContentBlock:
    try:
        return _BLOCK.validate_python(item)
    except ValidationError:
        text = item if isinstance(item, str) else _json(item)
        return types.TextContent(text=text)


def _object_schema(parameters: Any) -> dict[str, Any]:
    """Clients refuse a listing with a schema that is not of an object."""
    schema = dict(parameters) if isinstance(parameters, Mapping) else {}
    return {"properties": {}, **schema, "type": "object"}


def _text(item: Mapping[str, Any]) -> str:
    return str(item["text"]) if item.get("type") == "text" else _json(item.get("value"))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
