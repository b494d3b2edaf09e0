"""Servers that are well, dead, slow, hostile or change their minds."""

from __future__ import annotations

import asyncio
import shlex
import time
from typing import TYPE_CHECKING, Any

import pytest
from tests.mcp.helpers import alive, config, lines, open_fds, pids, scripted, started, tools, until

from codemode.mcp import McpCallError, McpServers, McpUnavailable
from codemode.mcp.results import call_result

if TYPE_CHECKING:
    from pathlib import Path

    from codemode.mcp import McpSnapshot

pytestmark = pytest.mark.req("mcp.5")


def names(snapshot: McpSnapshot, server: str = "s") -> list[str]:
    view = snapshot.server(server)
    assert view is not None
    return [tool.name for tool in view.tools]


async def test_a_dead_slow_or_silent_server_does_not_hide_the_healthy_one() -> None:
    began = time.monotonic()
    servers = config(
        well=scripted(),
        silent=scripted(start="never", more={"timeouts": {"start": 0.5}}),
        gone=scripted(start="exit", noise="no licence"),
        absent={"command": "/no/such/program"},
    )
    async with McpServers(servers, ready_within=60) as running:
        assert time.monotonic() - began < 20
        snapshot = running.snapshot
        assert names(snapshot, "well") == ["echo"]
        why = snapshot.unavailable
        assert set(why) == {"silent", "gone", "absent"}
        assert "0.5 s" in why["silent"]
        assert "status 3" in why["gone"]
        assert "no licence" in why["gone"]
        assert why["absent"] == "cannot start '/no/such/program': No such file or directory"
        with pytest.raises(McpUnavailable, match="absent"):
            await running.call_tool("absent", "x", {})


async def test_what_cannot_be_started_is_named_with_what_to_do(tmp_path: Path) -> None:
    servers = config(
        line={"command": "npx -y foo"},
        where={"command": "sh", "cwd": "/no/such/folder"},
        folder={"command": str(tmp_path)},
    )
    async with McpServers(servers, ready_within=60) as running:
        why = running.snapshot.unavailable
    assert "'npx -y foo'" in why["line"]
    assert '"args"' in why["line"]
    assert "'/no/such/folder' (cwd): No such file" in why["where"]
    assert f"'{tmp_path}': Permission denied" in why["folder"]


async def test_a_server_that_is_late_joins_when_it_is_ready() -> None:
    servers = config(fast=scripted(), late=scripted(start=1))
    async with McpServers(servers, ready_within=0.6) as running:
        assert names(running.snapshot, "fast") == ["echo"]
        assert running.snapshot.unavailable == {"late": "starting"}
        first = running.snapshot
        await running.settled(5)
        assert names(running.snapshot, "late") == ["echo"]
        assert running.snapshot.version > first.version
        assert first.unavailable == {"late": "starting"}, "a snapshot never changes"


async def test_a_call_waits_for_a_server_that_is_starting() -> None:
    async with McpServers(config(s=scripted(start=0.5)), ready_within=0) as running:
        result = await running.call_tool("s", "echo", {"a": 1})
        assert result["content"][0]["text"] == '{"a": 1}'


async def test_all_pages_are_read() -> None:
    pages = [tools("a", "b"), tools("c"), tools("d")]
    async with started(s=scripted(pages=pages)) as running:
        assert names(running.snapshot) == ["a", "b", "c", "d"]


@pytest.mark.hostile
async def test_a_cursor_loop_ends_and_is_noted() -> None:
    async with started(s=scripted(pages=[tools("a"), tools("b")], loop=True)) as running:
        view = running.snapshot.server("s")
        assert view is not None
        assert view.status == "ready"
        assert [t.name for t in view.tools] == ["a", "b"]
        assert any("repeats" in note for note in view.notes)


@pytest.mark.hostile
async def test_a_list_without_end_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("codemode.mcp.connection.MAX_PAGES", 20)
    async with started(s=scripted(pages=[tools("a")], endless=True)) as running:
        view = running.snapshot.server("s")
        assert view is not None
        assert view.status == "ready"
        assert any("20 pages" in note for note in view.notes)


@pytest.mark.hostile
async def test_a_bad_tool_never_removes_its_neighbours() -> None:
    page: list[Any] = [
        {"name": "", "inputSchema": {}},
        {"name": "  "},
        {"inputSchema": {}},
        "not a tool",
        None,
        {"name": 7},
        {"name": "2fa-status", "inputSchema": {"type": "string"}},
        {"name": "true", "inputSchema": True},
        {"name": "list", "inputSchema": []},
        {"name": "null", "inputSchema": None},
        {"name": "absent"},
        {"name": "untyped", "inputSchema": {"properties": {"a": {}}}},
        {"name": "described", "inputSchema": {}, "description": {"no": "text"}},
        {"name": "read_file", "inputSchema": {"type": "object"}, "title": 3, "annotations": "x"},
        {"name": "read_file", "inputSchema": {"type": "object"}},
    ]
    async with started(s=scripted(pages=[page])) as running:
        assert names(running.snapshot) == [
            *("2fa-status", "true", "list", "null", "absent", "untyped", "described", "read_file")
        ]
        view = running.snapshot.server("s")
        assert view is not None
        assert sum("without a name" in note for note in view.notes) == 6
        assert any("listed twice" in note for note in view.notes)
        for name in names(running.snapshot):
            assert (await running.call_tool("s", name, {"n": name}))["content"]


async def test_allow_and_deny_lists_apply() -> None:
    page = tools("get_user", "get_secret", "drop_all")
    more = {"allow": ["get_*"], "deny": ["get_secret"], "directOnly": ["get_user"]}
    async with started(s=scripted(pages=[page], more=more)) as running:
        view = running.snapshot.server("s")
        assert view is not None
        assert [(t.name, t.direct) for t in view.tools] == [("get_user", True)]


@pytest.mark.hostile
@pytest.mark.req("mcp.2")
async def test_odd_results_keep_their_shape() -> None:
    results: dict[str, Any] = {
        "empty": {},
        "null": None,
        "bare": {"structuredContent": {"a": 1}},
        "error": {"isError": True, "content": []},
        "unknown": {"content": [{"type": "hologram", "depth": 3}]},
    }
    async with started(s=scripted(results=results)) as running:

        async def get(name: str) -> dict[str, Any]:
            return call_result(await running.call_tool("s", name, {}))

        assert await get("empty") == {"content": []}
        assert await get("null") == {"content": []}
        assert await get("bare") == {"content": [], "structuredContent": {"a": 1}}
        assert (await get("error"))["isError"] is True
        assert await get("unknown") == {"content": [{"type": "hologram", "depth": 3}]}


@pytest.mark.hostile
@pytest.mark.req("mcp.2")
async def test_an_answer_that_cannot_be_read_is_an_error_at_once() -> None:
    head = '{"jsonrpc":"2.0","id":ID,'
    results: dict[str, Any] = {
        "list": [1],
        "broken": f'LINE:{head}"result":{{"content":"\xff"}}}}',
        "last": 'LINE:{"result":{"content":"\x01"},"id":ID}',
        "words": f'LINE:{head}"error":"out of paper"}}',
        "endless": f'LINE:{head}"result":{{"content":' + "[" * 100_000,
    }
    async with started(s=scripted(results=results)) as running:

        async def refused(name: str) -> str:
            with pytest.raises(McpCallError) as error:
                await asyncio.wait_for(running.call_tool("s", name, {}), 5)
            return str(error.value)

        assert "s: its answer could not be read: its result is [1]" in await refused("list")
        assert "could not be read: 'utf-8'" in await refused("broken")
        assert "could not be read: Invalid control" in await refused("last")
        assert await refused("words") == "s: out of paper"
        assert "nested too deep" in await refused("endless")
        assert (await running.call_tool("s", "echo", {}))["content"]


@pytest.mark.hostile
@pytest.mark.req("mcp.2")
async def test_a_deep_answer_arrives_whole() -> None:
    deep: Any = "bottom"
    for _ in range(500):
        deep = [deep]
    whole = {"content": [{"type": "text", "text": "t"}], "structuredContent": {"deep": deep}}
    async with started(s=scripted(results={"deep": whole})) as running:
        assert await running.call_tool("s", "deep", {}) == whole


@pytest.mark.hostile
async def test_an_answer_over_the_limit_is_refused_and_the_server_lives(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("codemode.mcp.transport.MAX_LINE_BYTES", 1 << 14)
    results = {"long": {"content": "x" * 60_000}}
    async with started(s=scripted(pages=[tools("long", "pid")], results=results)) as running:
        before = await running.call_tool("s", "pid", {})
        with pytest.raises(McpCallError, match="could not be read: it is over 64 MiB"):
            await asyncio.wait_for(running.call_tool("s", "long", {}), 5)
        assert await running.call_tool("s", "pid", {}) == before


async def test_a_protocol_error_is_an_exception_that_names_the_server() -> None:
    async with started(s=scripted(results={"t": "ERROR:no such tool"})) as running:
        with pytest.raises(McpCallError, match="s: no such tool"):
            await running.call_tool("s", "t", {})


async def test_a_crash_in_a_call_fails_it_and_the_next_use_starts_the_server_again(
    tmp_path: Path,
) -> None:
    log = tmp_path / "log"
    server = scripted(pages=[tools("crash", "pid")], log=str(log))
    async with started(s=server) as running:
        first = (await running.call_tool("s", "pid", {}))["structuredContent"]["pid"]
        beside = asyncio.create_task(running.call_tool("s", "hang", {}))
        await until(lambda: any("hanging" in line for line in lines(log)))
        with pytest.raises(McpCallError, match="not known"):
            await running.call_tool("s", "crash", {})
        with pytest.raises(McpCallError, match="ended"):
            await beside
        assert names(running.snapshot) == ["crash", "pid"], "its tools stay listed"
        second = (await running.call_tool("s", "pid", {}))["structuredContent"]["pid"]
        assert second != first
        assert lines(log).count("call crash") == 1, "a call is never repeated by itself"
        assert "about to crash" in running.stderr("s")


async def test_a_server_that_keeps_crashing_is_started_ever_more_slowly(tmp_path: Path) -> None:
    log = tmp_path / "log"
    async with started(s=scripted(log=str(log))) as running:
        began = time.monotonic()
        for _ in range(4):
            with pytest.raises(McpCallError):
                await running.call_tool("s", "crash", {})
        assert len(pids(log)) == 4
        assert time.monotonic() - began >= 0.25 + 0.5


async def test_an_unavailable_server_is_tried_again_when_asked(tmp_path: Path) -> None:
    flag = tmp_path / "flag"
    server = scripted()
    command = shlex.join([server["command"], *server["args"]])
    script = f"test -e {flag} && exec {command}; exit 9"
    async with started(s={"command": "sh", "args": ["-c", script]}) as running:
        assert "status 9" in running.snapshot.unavailable["s"]
        flag.touch()
        running.wake()
        await until(lambda: not running.snapshot.unavailable, 20)
        assert names(running.snapshot) == ["echo"]


async def test_a_list_change_gives_a_new_snapshot_and_the_old_one_stays() -> None:
    async with started(s=scripted(pages=[tools("add_tool")])) as running:
        before = running.snapshot
        assert running.snapshot is before
        await running.call_tool("s", "add_tool", {"name": "fresh"})
        after = await running.settled(5)
        assert names(after) == ["add_tool", "fresh"]
        assert names(before) == ["add_tool"]
        assert after.version > before.version


async def test_progress_is_passed_on() -> None:
    seen: list[tuple[float, float | None, str | None]] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        seen.append((progress, total, message))

    async with started(s=scripted()) as running:
        await running.call_tool("s", "progress", {}, on_progress=on_progress)
    assert seen == [(1, 2, "step 1"), (2, 2, "step 2")]


async def test_cancelling_a_call_tells_the_server(tmp_path: Path) -> None:
    log = tmp_path / "log"
    async with started(s=scripted(log=str(log))) as running:
        call = asyncio.create_task(running.call_tool("s", "hang", {}))
        await until(lambda: any("hanging" in line for line in lines(log)))
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        number = next(line for line in lines(log) if "hanging" in line).split()[1]
        await until(lambda: f"cancelled {number}" in lines(log))
        assert (await running.call_tool("s", "echo", {}))["content"]


async def test_a_call_has_a_limit_and_the_server_is_told(tmp_path: Path) -> None:
    log = tmp_path / "log"
    server = scripted(log=str(log), more={"timeouts": {"call": 0.3}})
    async with started(s=server) as running:
        with pytest.raises(McpCallError, match=r"0\.3 s \(timeouts\.call\)"):
            await running.call_tool("s", "hang", {})
        await until(lambda: any("cancelled" in line for line in lines(log)))


async def test_noise_goes_to_the_buffer_and_not_to_us(capfd: pytest.CaptureFixture[str]) -> None:
    async with started(s=scripted(noise="Hello from a banner")) as running:
        assert names(running.snapshot) == ["echo"]
        await until(lambda: running.stderr("s").count("banner") == 2)
    assert "banner" not in "".join(capfd.readouterr())


@pytest.mark.hostile
async def test_a_flood_on_stderr_is_kept_in_bounded_memory() -> None:
    flood = scripted(noise="all work and no play the end", times=50_000)
    async with started(s=flood) as running:
        await until(lambda: running.stderr("s").endswith("the end\n"))
        assert len(running.stderr("s")) <= 64 * 1024


async def test_a_server_of_the_newest_revision_only_is_understood() -> None:
    async with started(s=scripted(start="modern")) as running:
        assert names(running.snapshot) == ["echo"]
        result = await running.call_tool("s", "echo", {"a": 1})
        assert result["content"][0]["text"] == '{"a": 1}'


@pytest.mark.hostile
async def test_nothing_is_left_behind_by_servers_that_will_not_go(tmp_path: Path) -> None:
    log = tmp_path / "log"
    servers = config(
        stubborn=scripted(no_eof=True, log=str(log)),
        parent=scripted(children=True, log=str(log)),
        silent=scripted(start="never", no_eof=True, log=str(log)),
    )
    fds = open_fds()
    async with McpServers(servers, ready_within=1):
        await until(lambda: len(pids(log)) == 3 and len(pids(log, "child")) == 1)
        everyone = pids(log) + pids(log, "child")
        assert all(alive(pid) for pid in everyone)
        began = time.monotonic()
    assert time.monotonic() - began < 6
    assert not [pid for pid in everyone if alive(pid)]
    await until(lambda: open_fds() <= fds)


async def test_cancelling_the_start_leaves_no_process(tmp_path: Path) -> None:
    log = tmp_path / "log"

    async def start() -> None:
        async with McpServers(config(s=scripted(start="never", log=str(log))), ready_within=60):
            raise AssertionError("never ready")

    task = asyncio.create_task(start())
    await until(lambda: len(pids(log)) == 1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not alive(pids(log)[0])


async def test_a_stopped_manager_refuses_calls() -> None:
    async with started(s=scripted()) as running:
        pass
    with pytest.raises(McpUnavailable, match="stopped"):
        await running.call_tool("s", "echo", {})
    with pytest.raises(McpUnavailable, match="no MCP server is called 'x'; there are: s"):
        await running.call_tool("x", "echo", {})


async def test_many_calls_at_once_reach_their_own_callers() -> None:
    async with started(a=scripted(), b=scripted()) as running:
        calls = [running.call_tool("ab"[n % 2], "echo", {"n": n}) for n in range(200)]
        results = await asyncio.gather(*calls)
    assert [r["content"][0]["text"] for r in results] == [f'{{"n": {n}}}' for n in range(200)]
