"""`codemode serve` as clients see it: over real pipes and real HTTP."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from tests.mcp.helpers import alive, lines, pids, scripted, tools, until

from codemode.mcp.server import _report_program
from mcp import Client, StdioServerParameters

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

pytestmark = pytest.mark.req("mcp.5", "srf.1")

PICTURE = base64.b64encode(b"not really a picture" * 20).decode()
SLOW_TOOLS = """
import asyncio
from codemode import tool

@tool
async def slow(seconds: float) -> str:
    '''Sleeps.'''
    await asyncio.sleep(seconds)
    print("a stray print")
    return "slept"

TOOLS = [slow]
"""


def write(folder: Path, servers: dict[str, Any], **more: Any) -> Path:
    file = folder / "mcp.json"
    file.write_text(json.dumps({"mcpServers": servers, **more}))
    (folder / "mytools.py").write_text(SLOW_TOOLS)
    return file


def command(file: Path, *more: str) -> list[str]:
    program = (
        "import argparse, sys; from codemode.mcp import serve;"
        "p = argparse.ArgumentParser(); serve.add_arguments(p);"
        "sys.exit(serve.run(p.parse_args()))"
    )
    return [sys.executable, "-c", program, "--mcp", str(file), *more]


@contextlib.asynccontextmanager
async def over_stdio(file: Path, *more: str) -> AsyncIterator[Any]:
    first, *rest = command(file, *more)
    env = {"PYTHONPATH": os.environ.get("PYTHONPATH", ""), "PYTHONWARNINGS": "error"}
    where = StdioServerParameters(command=first, args=rest, cwd=file.parent, env=env)
    with (file.parent / "stderr").open("w") as errlog:
        async with stdio_client(where, errlog=errlog) as streams:
            yield streams


@contextlib.asynccontextmanager
async def over_http(file: Path, *more: str, token: str = "secret") -> AsyncIterator[str]:
    env = {**os.environ, "CODEMODE_SERVE_TOKEN": token}
    said = file.parent / "stderr"
    with (
        said.open("w") as errlog,
        subprocess.Popen(  # noqa: ASYNC220 - starting it is quick
            command(file, "--http", "--port", "0", *more), stderr=errlog, cwd=file.parent, env=env
        ) as process,
    ):
        try:
            await until(lambda: "serving on" in said.read_text() or process.poll() is not None, 30)
            yield said.read_text().split("serving on ")[1].split()[0]
        finally:
            process.terminate()
            await until(lambda: process.poll() is not None, 15)
        assert process.returncode == 0, said.read_text()


def authorised(token: str = "secret") -> httpx2.AsyncClient:
    return httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=30)


def text(result: Any) -> str:
    return str(result.content[0].text)


async def test_the_client_sees_exec_and_wait_and_nothing_else(tmp_path: Path) -> None:
    file = write(tmp_path, {"s": scripted(pages=[tools("echo", "other")])})
    async with Client(over_stdio(file)) as client:
        listed = (await client.list_tools()).tools
        assert [t.name for t in listed] == ["exec", "wait"]
        assert "MCP" in (listed[0].description or "")
        hidden = await client.call_tool("echo", {})
        assert hidden.is_error
        assert "exec(" in text(hidden)


async def test_a_program_calls_several_servers_and_gives_one_value(tmp_path: Path) -> None:
    file = write(tmp_path, {"a": scripted(), "b": scripted(pages=[tools("get_it")])})
    code = """
      const [x, y] = await Promise.all([MCP.a.echo({ n: 1 }), MCP.b.getIt({ n: 2 })]);
      text("on the way");
      return [x.content[0].text, y.content[0].text];
    """
    async with Client(over_stdio(file)) as client:
        result = await client.call_tool("exec", {"code": code})
        assert not result.is_error
        assert result.structured_content == {
            "status": "completed",
            "value": ['{"n": 1}', '{"n": 2}'],
            "output": [{"type": "text", "text": "on the way"}],
        }
        assert text(result) == 'on the way\n["{\\"n\\": 1}","{\\"n\\": 2}"]'
        assert result.meta is not None
        assert result.meta["codemode/telemetry"]["sources"]["mcp"] == 2


async def test_a_failed_program_is_an_error_that_says_what_was_called(tmp_path: Path) -> None:
    file = write(tmp_path, {"s": scripted()})
    async with Client(over_stdio(file)) as client:
        code = "await MCP.s.echo({}); return nope.x;"
        result = await client.call_tool("exec", {"code": code})
        assert result.is_error
        assert "ReferenceError" in text(result)
        assert "mcp:s:echo ok" in text(result)
        assert result.structured_content is not None
        assert result.structured_content["code"] == "internal_error"


async def test_a_slow_python_tool_suspends_and_wait_continues(tmp_path: Path) -> None:
    file = write(tmp_path, {}, codeMode={"timeoutMs": 500})
    async with Client(over_stdio(file, "--tools", "mytools:TOOLS")) as client:
        code = "return await tools.slow({ seconds: 1.2 });"
        result = await client.call_tool("exec", {"code": code})
        seen = result.structured_content
        assert seen is not None
        assert seen["status"] == "waiting"
        assert seen["runId"] in text(result)
        while seen["status"] == "waiting":
            result = await client.call_tool("wait", {"runId": seen["runId"]})
            seen = result.structured_content
            assert seen is not None
        assert seen["value"] == "slept"
    assert "a stray print" in (tmp_path / "stderr").read_text()


async def test_a_direct_only_tool_passes_its_picture_through(tmp_path: Path) -> None:
    image = {"type": "image", "data": PICTURE, "mimeType": "image/png", "_meta": {"x": 1}}
    server = scripted(
        pages=[tools("shot", "echo")],
        results={"shot": {"content": [image, {"type": "hologram", "z": 1}]}},
        more={"directOnly": ["shot"]},
    )
    file = write(tmp_path, {"s": server})
    async with Client(over_stdio(file)) as client:
        assert [t.name for t in (await client.list_tools()).tools] == ["exec", "wait", "shot"]
        shown = await client.call_tool("shot", {})
        assert shown.content[0].type == "image"
        assert shown.content[0].data == PICTURE
        assert "hologram" in shown.content[1].text
        inside = await client.call_tool("exec", {"code": "return typeof MCP.s.shot;"})
        assert inside.structured_content is not None
        assert inside.structured_content["value"] == "undefined"


async def test_progress_comes_while_a_program_runs(tmp_path: Path) -> None:
    file = write(tmp_path, {"s": scripted(pages=[tools("progress")])})
    seen: list[tuple[float, str | None]] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        seen.append((progress, message))

    async with Client(over_stdio(file, "--tools", "mytools:TOOLS")) as client:
        code = "await MCP.s.progress({}); return await tools.slow({ seconds: 2.6 });"
        await client.call_tool("exec", {"code": code}, progress_callback=on_progress)
    assert len(seen) >= 2
    assert [p for p, _ in seen] == sorted(p for p, _ in seen)
    assert any("slow" in (message or "") for _, message in seen)


async def test_cancelling_the_request_cancels_the_call_at_the_server(tmp_path: Path) -> None:
    log = tmp_path / "log"
    file = write(tmp_path, {"s": scripted(pages=[tools("hang")], log=str(log))})
    async with Client(over_stdio(file)) as client:
        call = asyncio.create_task(
            client.call_tool("exec", {"code": "return await MCP.s.hang({});"})
        )
        await until(lambda: any("hanging" in line for line in lines(log)), 20)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await until(lambda: any("cancelled" in line for line in lines(log)))
        after = await client.call_tool("exec", {"code": "return 1;"})
        assert after.structured_content is not None
        assert after.structured_content["value"] == 1


async def test_a_list_change_is_seen_by_the_next_program(tmp_path: Path) -> None:
    file = write(tmp_path, {"s": scripted(pages=[tools("add_tool")])})
    async with Client(over_stdio(file)) as client:
        await client.call_tool("exec", {"code": "return await MCP.s.addTool({ name: 'fresh' });"})
        result = await client.call_tool("exec", {"code": "return await MCP.s.fresh({ n: 1 });"})
        assert result.structured_content is not None
        assert result.structured_content["value"]["content"][0]["text"] == '{"n": 1}'


@pytest.mark.req("mcp.5")
async def test_a_dead_server_delays_nobody_and_is_named(tmp_path: Path) -> None:
    servers = {
        "well": scripted(),
        "gone": scripted(start="exit", noise="no licence"),
        "silent": scripted(start="never", more={"timeouts": {"start": 1}}),
    }
    file = write(tmp_path, servers)
    async with Client(over_stdio(file)) as client:
        code = """
          const index = (await API.read("mcp/index.d.ts")).content;
          const gone = await MCP.gone.$api();
          return [(await MCP.well.echo({})).content.length, index, gone.unavailable];
        """
        result = await client.call_tool("exec", {"code": code})
        assert result.structured_content is not None
        count, index, gone = result.structured_content["value"]
        assert count == 1
        assert "no licence" in gone
        assert "unavailable" in index


async def test_a_server_that_hangs_is_waited_for_only_by_programs_that_name_it(
    tmp_path: Path,
) -> None:
    servers = {"well": scripted(), "late-one": scripted(start=4), "silent": scripted(start="never")}
    file = write(tmp_path, servers)
    async with Client(over_stdio(file)) as client:
        began = time.monotonic()
        assert [t.name for t in (await client.list_tools()).tools] == ["exec", "wait"]
        for code in ("return (await MCP.well.echo({})).content.length;", "return 1;"):
            result = await client.call_tool("exec", {"code": code})
            assert result.structured_content == {"status": "completed", "value": 1}
        assert time.monotonic() - began < 4
        code = "return (await MCP.lateOne.echo({})).content.length;"
        result = await client.call_tool("exec", {"code": code})
        assert result.structured_content == {"status": "completed", "value": 1}


async def test_the_listing_waits_for_the_first_server_and_for_direct_only_tools(
    tmp_path: Path,
) -> None:
    servers = {"one": scripted(start=1), "silent": scripted(start="never")}
    async with Client(over_stdio(write(tmp_path, servers))) as client:
        exec_tool = (await client.list_tools()).tools[0]
        assert "MCP servers" in (exec_tool.description or "")
    servers["shots"] = scripted(start=2, pages=[tools("shot")], more={"directOnly": ["shot"]})
    async with Client(over_stdio(write(tmp_path, servers))) as client:
        assert [t.name for t in (await client.list_tools()).tools] == ["exec", "wait", "shot"]


async def test_the_npm_inspector_can_use_it(npm_bin: Path, tmp_path: Path) -> None:
    file = write(tmp_path, {"s": scripted()})
    inspector = [str(npm_bin / "mcp-inspector"), "--cli", *command(file)]

    async def ask(*more: str) -> dict[str, Any]:
        process = await asyncio.create_subprocess_exec(
            *inspector,
            *more,
            cwd=tmp_path,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={**os.environ},
        )
        out, err = await asyncio.wait_for(process.communicate(), 60)
        assert process.returncode == 0, err.decode()
        answer: dict[str, Any] = json.loads(out)
        return answer

    listed = await ask("--method", "tools/list")
    assert [t["name"] for t in listed["tools"]] == ["exec", "wait"]
    code = "code=return (await MCP.s.echo({ n: 1 })).content[0].text;"
    called = await ask("--method", "tools/call", "--tool-name", "exec", "--tool-arg", code)
    assert called["structuredContent"] == {"status": "completed", "value": '{"n": 1}'}


async def test_two_http_sessions_do_not_see_each_others_programs(tmp_path: Path) -> None:
    file = write(tmp_path, {"s": scripted()})
    async with over_http(file) as url, contextlib.AsyncExitStack() as stack:
        clients = []
        for _ in range(2):
            http = await stack.enter_async_context(authorised())
            transport = streamable_http_client(url, http_client=http)
            clients.append(await stack.enter_async_context(Client(transport, mode="legacy")))
        parked = await clients[0].call_tool("exec", {"code": "await yield_control(); return 7;"})
        assert parked.structured_content is not None
        ticket = {"runId": parked.structured_content["runId"]}
        stolen = await clients[1].call_tool("wait", ticket)
        assert stolen.is_error
        mine = await clients[0].call_tool("wait", ticket)
        assert mine.structured_content is not None
        assert mine.structured_content["value"] == 7


async def test_a_client_of_the_newest_revision_can_wait_too(tmp_path: Path) -> None:
    file = write(tmp_path, {"s": scripted()})
    async with over_http(file) as url, authorised() as http:
        transport = streamable_http_client(url, http_client=http)
        async with Client(transport, mode="2026-07-28") as client:
            parked = await client.call_tool("exec", {"code": "await yield_control(); return 7;"})
            assert parked.structured_content is not None
            done = await client.call_tool("wait", {"runId": parked.structured_content["runId"]})
            assert done.structured_content is not None
            assert done.structured_content["value"] == 7


@pytest.mark.req("wai.5")
async def test_a_session_that_ends_frees_its_cells(tmp_path: Path) -> None:
    file = write(tmp_path, {"s": scripted()}, codeMode={"maxSuspendedCells": 2})
    async with over_http(file) as url, authorised() as http:
        for _ in range(5):
            transport = streamable_http_client(url, http_client=http)
            async with Client(transport, mode="legacy") as client:
                for _ in range(2):
                    parked = await client.call_tool("exec", {"code": "await yield_control();"})
                    assert parked.structured_content is not None
                    assert parked.structured_content["status"] == "waiting", text(parked)


@pytest.mark.hostile
@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer wrong"}, {"Authorization": "x"}])
async def test_without_the_token_nothing_is_served(tmp_path: Path, headers: dict[str, str]) -> None:
    file = write(tmp_path, {"s": scripted()})
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    async with over_http(file) as url, httpx2.AsyncClient() as http:
        answer = await http.post(url, json=body, headers=headers)
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"] == "Bearer"
        rebound = {"Authorization": "Bearer secret", "Host": "evil.test"}
        answer = await http.post(url, json=body, headers=rebound)
        assert answer.status_code in (403, 421)


@pytest.mark.parametrize("how", ["eof", "SIGTERM", "SIGINT", "SIGKILL of the client"])
async def test_no_process_is_left_however_it_ends(tmp_path: Path, how: str) -> None:
    log = tmp_path / "log"
    servers = {
        "well": scripted(log=str(log), children=True),
        "stubborn": scripted(log=str(log), no_eof=True),
    }
    file = write(tmp_path, servers)
    with subprocess.Popen(  # noqa: ASYNC220 - starting it is quick
        command(file), stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=tmp_path
    ) as process:
        assert process.stdin is not None
        await until(lambda: len(pids(log)) == 2 and pids(log, "child"), 30)
        everyone = pids(log) + pids(log, "child")
        assert all(alive(pid) for pid in everyone)
        began = time.monotonic()
        if how.startswith("SIG") and " " not in how:
            process.send_signal(signal.Signals[how])
        else:
            process.stdin.close()
        await until(lambda: process.poll() is not None, 15)
        assert time.monotonic() - began < 10
        assert process.returncode == 0
        await until(lambda: not [pid for pid in everyone if alive(pid)])


@pytest.mark.parametrize("where", ["/dev/null", "a file"])
def test_stdin_and_stdout_may_be_files(tmp_path: Path, where: str) -> None:
    file = write(tmp_path, {})
    asked, answered = tmp_path / "asked", tmp_path / "answered"
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}}
    hello["clientInfo"] = {"name": "c", "version": "1"}
    request = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}
    asked.write_text(json.dumps(request) + "\n" + "\n" * 200_000)  # more than a pipe holds
    stdin = Path(where) if where == "/dev/null" else asked
    with stdin.open() as source, answered.open("w") as target:
        done = subprocess.run(
            command(file, "--tools", "mytools:TOOLS"),
            stdin=source,
            stdout=target,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
            timeout=30,
        )
    assert (done.returncode, done.stderr) == (0, "")
    answers = [json.loads(line)["id"] for line in lines(answered)]
    assert answers == ([] if where == "/dev/null" else [1])


def test_a_closed_stdin_is_told_in_a_line(tmp_path: Path) -> None:
    file = write(tmp_path, {"s": scripted()})
    shell = shlex.join(command(file)) + " <&-"
    done = subprocess.run(["sh", "-c", shell], capture_output=True, text=True, timeout=30)
    assert done.returncode == 2
    assert "stdin or stdout is closed" in done.stderr
    assert "Traceback" not in done.stderr


def test_what_cannot_be_served_is_refused_with_a_reason(tmp_path: Path) -> None:
    def run(*more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command(file, *more), capture_output=True, text=True, cwd=tmp_path, timeout=60
        )

    file = write(tmp_path, {"s": {"command": "${NOT_SET_ANYWHERE}"}})
    assert "NOT_SET_ANYWHERE" in run().stderr
    file = write(tmp_path, {})
    assert "nothing to serve" in run().stderr
    for spec in ("mytools", "mytools:NOPE", "no_such_module:x", "mytools:asyncio"):
        refused = run("--tools", spec)
        assert refused.returncode == 2
        assert spec in refused.stderr
        assert "Traceback" not in refused.stderr
    file = write(tmp_path, {"s": scripted()}, codeMode={"timeoutMs": 1})
    assert "timeoutMs" in run().stderr
    file = write(tmp_path, {"s": scripted()})
    everywhere = subprocess.run(
        command(file, "--http", "--host", "0.0.0.0", "--port", "0"),
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=60,
        env={k: v for k, v in os.environ.items() if k != "CODEMODE_SERVE_TOKEN"},
    )
    assert everywhere.returncode == 2
    assert "CODEMODE_SERVE_TOKEN" in everywhere.stderr


@pytest.mark.parametrize("turns", range(6))
async def test_progress_ends_with_the_call_also_when_an_event_comes_with_it(turns: int) -> None:
    async def report(*_: Any) -> None:
        return None

    ctx: Any = SimpleNamespace(session=SimpleNamespace(report_progress=report))
    queue: asyncio.Queue[Any] = asyncio.Queue()
    task = asyncio.create_task(_report_program(ctx, "exec-1", queue))
    await asyncio.sleep(0.01)
    queue.put_nowait({"type": "call_end", "tool": "t"})
    for _ in range(turns):
        await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task], timeout=2)
    assert task.cancelled()
