"""The servers that people have, not imitations of them."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
from typing import TYPE_CHECKING, Any

import pytest
import uvicorn
from mcp.server.mcpserver import Context, MCPServer
from tests.mcp.helpers import config, started, until

from codemode import CodeMode
from codemode.mcp import McpCallError, McpServers, McpSurface, McpUnavailable
from codemode.mcp.bridge import McpBridge
from codemode.mcp.results import call_result
from codemode.scope import Scope
from codemode.tools import ToolContext, ToolResult

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

pytestmark = pytest.mark.req("mcp.5")


def context(updates: list[Any] | None = None) -> ToolContext:
    on_update = None if updates is None else updates.append
    return ToolContext(call_id="c", scope=Scope(), on_update=on_update)


def of(bridge: McpBridge, server: str, name: str) -> Any:
    return next(t.execute for t in bridge.tools() if (t.owner, t.name) == (server, name))


async def test_everything_filesystem_and_memory_work_side_by_side(
    npm_bin: Path, tmp_path: Path
) -> None:
    (tmp_path / "hello.txt").write_text("hello there")
    servers = config(
        every={"command": str(npm_bin / "mcp-server-everything"), "directOnly": ["get-tiny-image"]},
        files={"command": str(npm_bin / "mcp-server-filesystem"), "args": [str(tmp_path)]},
        memory={
            "command": str(npm_bin / "mcp-server-memory"),
            "env": {"MEMORY_FILE_PATH": str(tmp_path / "memory.jsonl")},
        },
    )
    async with McpServers(servers, ready_within=60) as running:
        assert running.snapshot.unavailable == {}
        bridge = McpBridge(running)
        assert bridge.tools() == bridge.tools(), "the same objects while nothing changes"

        updates: list[Any] = []
        slow = of(bridge, "every", "trigger-long-running-operation")
        result = await slow({"duration": 0.3, "steps": 3}, context(updates))
        assert "completed" in result["content"][0]["text"]
        assert [u["progress"] for u in updates] == [1, 2, 3]

        image = await of(bridge, "every", "get-tiny-image")({}, context())
        assert isinstance(image, ToolResult)
        assert len(next(i for i in image.content if i["type"] == "image")["data"]) > 1000

        structured = await of(bridge, "every", "get-structured-content")(
            {"location": "New York"}, context()
        )
        assert "temperature" in structured["structuredContent"]

        prompts = await of(bridge, "every", "prompts.list")({}, context())
        assert "simple-prompt" in [p["name"] for p in prompts["prompts"]]
        prompt = await of(bridge, "every", "prompts.get")({"name": "simple-prompt"}, context())
        assert prompt["messages"][0]["content"]["type"] == "text"
        with pytest.raises(TypeError, match="name"):
            await of(bridge, "every", "prompts.get")({}, context())

        listed = await of(bridge, "every", "resources.list")({}, context())
        uri = listed["resources"][0]["uri"]
        read = await of(bridge, "every", "resources.read")({"uri": uri}, context())
        assert read["contents"][0]["uri"] == uri

        path = {"path": str(tmp_path / "hello.txt")}
        file = await of(bridge, "files", "read_text_file")(path, context())
        assert file["content"][0]["text"] == "hello there"
        outside = await of(bridge, "files", "read_text_file")({"path": "/etc/passwd"}, context())
        assert outside["isError"] is True
        assert "denied" in outside["content"][0]["text"]

        entity = {"name": "port", "entityType": "place", "observations": ["wet"]}
        await of(bridge, "memory", "create_entities")({"entities": [entity]}, context())
        graph = await of(bridge, "memory", "read_graph")({}, context())
        assert "wet" in json.dumps(graph)


@contextlib.asynccontextmanager
async def http_server(port: int) -> AsyncIterator[dict[str, Any]]:
    """The SDK's own server on loopback; gives what it saw."""
    seen: dict[str, Any] = {"headers": []}
    server = MCPServer("web")

    @server.tool()
    async def add(a: int, b: int) -> int:
        return a + b

    @server.tool()
    async def slow(ctx: Context[Any, Any]) -> str:
        await ctx.report_progress(1, 2, "half")
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            seen["cancelled"] = True
            raise
        return "late"

    inner = server.streamable_http_app()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            seen["headers"].append(dict(scope["headers"]).get(b"x-key", b"").decode())
        await inner(scope, receive, send)

    uv = uvicorn.Server(
        uvicorn.Config(app, port=port, log_level="error", timeout_graceful_shutdown=1)
    )
    uv.capture_signals = contextlib.nullcontext  # type: ignore[method-assign, assignment]
    task = asyncio.create_task(uv.serve())
    await until(lambda: uv.started)
    try:
        yield seen
    finally:
        uv.should_exit = True
        await task


@pytest.fixture
def port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        number: int = listener.getsockname()[1]
        return number


async def test_a_streamable_http_server_works_and_gets_the_headers(port: int) -> None:
    where = {"url": f"http://127.0.0.1:{port}/mcp", "headers": {"X-Key": "k1"}}
    async with http_server(port) as seen, started(web=where) as running:
        assert running.snapshot.unavailable == {}
        result = call_result(await running.call_tool("web", "add", {"a": 1, "b": 2}))
        assert result["structuredContent"] == {"result": 3}
        assert set(seen["headers"]) == {"k1"}
        bad = call_result(await running.call_tool("web", "add", {"a": "x"}))
        assert bad["isError"] is True


async def test_cancelling_reaches_an_http_server(port: int) -> None:
    where = {"url": f"http://127.0.0.1:{port}/mcp"}
    seen_progress: list[Any] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        seen_progress.append((progress, total, message))

    async with http_server(port) as seen, started(web=where) as running:
        call = asyncio.create_task(running.call_tool("web", "slow", {}, on_progress=note))
        await until(lambda: seen_progress == [(1, 2, "half")])
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await until(lambda: seen.get("cancelled"))


async def test_an_http_server_that_restarts_is_found_again(port: int) -> None:
    where = {"url": f"http://127.0.0.1:{port}/mcp"}
    async with contextlib.AsyncExitStack() as stack:
        first = await stack.enter_async_context(contextlib.AsyncExitStack())
        await first.enter_async_context(http_server(port))
        running = await stack.enter_async_context(McpServers(config(web=where)))
        assert (await running.call_tool("web", "add", {"a": 1, "b": 1}))["structuredContent"]
        await first.aclose()
        with pytest.raises((McpCallError, McpUnavailable), match="web"):
            await running.call_tool("web", "add", {"a": 1, "b": 1})
        await stack.enter_async_context(http_server(port))
        # The new process knows the old session no more; that costs no call.
        again = await running.call_tool("web", "add", {"a": 2, "b": 2})
        assert again["structuredContent"] == {"result": 4}


async def test_a_refused_http_server_says_the_status(port: int) -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        await writer.drain()
        writer.close()

    where = {"url": f"http://127.0.0.1:{port}/mcp"}
    server = await asyncio.start_server(refuse, "127.0.0.1", port)
    async with server, started(web=where) as running:
        assert "401 Unauthorized" in running.snapshot.unavailable["web"]
        with pytest.raises(McpUnavailable, match="401"):
            await running.call_tool("web", "add", {})


@pytest.mark.req("mcp.1", "mcp.2", "mcp.3", "mcp.4", "wai.1")
async def test_a_program_uses_the_real_servers_and_is_suspended_on_a_slow_one(
    npm_bin: Path, tmp_path: Path
) -> None:
    note = str(tmp_path / "note.txt")
    servers = config(
        every={"command": str(npm_bin / "mcp-server-everything")},
        files={"command": str(npm_bin / "mcp-server-filesystem"), "args": [str(tmp_path)]},
    )
    program = f"""
        const echoed = await MCP.every.echo({{ message: "hi" }});
        await MCP.files.writeFile({{ path: {json.dumps(note)}, content: "written by a program" }});
        const read = await MCP.files.readTextFile({{ path: {json.dumps(note)} }});
        const paths = (await API.list("mcp")).files.map((f) => f.path);
        const types = (await API.read("mcp/files.d.ts")).content;
        const slow = await MCP.every.triggerLongRunningOperation({{ duration: 1.5, steps: 1 }});
        return {{
          echoed: echoed.content[0].text, read: read.content[0].text, paths,
          typed: /function writeFile\\(input: \\{{[^}}]*content: string/.test(types),
          slow: slow.content[0].text, hidden: ALL_TOOLS.length,
        }};
    """
    async with McpServers(servers, ready_within=60) as running, CodeMode(True) as cm:
        run = cm.run(
            McpBridge(running).tools(),
            extensions=[McpSurface(running)],
            config={"timeoutMs": 1000},
        )
        result = await run.exec({"code": program})
        waits = 0
        while result.status == "waiting":
            waits += 1
            result = await run.wait({"runId": result.run_id})
    assert result.status == "completed", result.to_dict()
    value = result.value
    assert waits >= 1
    assert "hi" in value["echoed"]
    assert (value["read"], value["hidden"]) == ("written by a program", 0)
    assert sorted(value["paths"]) == ["mcp/every.d.ts", "mcp/files.d.ts", "mcp/index.d.ts"]
    assert value["typed"]
    assert "completed" in value["slow"]
