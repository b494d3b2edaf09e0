"""Runs with real workers, each test straight and with a restore at every suspension."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import subprocess
import sys
import time
from typing import Any

import pytest

from codemode import (
    Block,
    Change,
    CodeMode,
    Completed,
    Failed,
    Hooks,
    ModelTool,
    Scope,
    Tool,
    ToolResult,
    Waiting,
)

SCOPE = Scope(agent_id="a", session_id="s", session_key="k", run_id="r")


async def echo_value(value: Any, _: Any) -> Any:
    return value


ECHO = Tool(name="echo", execute=echo_value)


def gate(name: str = "slow") -> tuple[Tool, asyncio.Event]:
    opened = asyncio.Event()

    async def execute(_: Any, __: Any) -> str:
        await opened.wait()
        return name

    return Tool(name=name, execute=execute), opened


def code(text: str, **more: Any) -> dict[str, Any]:
    return {"code": text, **more}


SLOW = "return await tools.callValue('slow', {});"


@pytest.mark.req("exe.3", "exe.11")
async def test_a_program_with_several_awaits_completes_in_one_exec(make_run: Any) -> None:
    run = make_run([ECHO])
    result = await run.exec(
        code(
            """
            text("start");
            const [a, b] = await Promise.all([
              tools.callValue("echo", {n: 1}),
              tools.callValue("openclaw:core:echo", {n: 2}),
            ]);
            json({a});
            return a.n + b.n;
            """
        )
    )
    assert isinstance(result, Completed)
    assert result.value == 3
    assert result.output == (
        {"type": "text", "text": "start"},
        {"type": "json", "value": {"a": {"n": 1}}},
    )
    assert result.telemetry["callCount"] == 2


@pytest.mark.req("exe.1", "exe.2")
@pytest.mark.parametrize(
    ("given", "word"),
    [
        (None, "object"),
        ("return 1", "object"),
        ({}, "missing"),
        ({"code": "  \n"}, "missing"),
        ({"code": 5}, "string"),
        ({"code": "return 1", "command": "return 2"}, "differ"),
        ({"code": "return 1", "language": "python"}, "language"),
        ({"code": "return 1", "language": 5}, "language"),
        ({"code": "return 1", "restartSafe": "yes"}, "restartSafe"),
        ({"code": "//" + "x" * 300_000}, "262144"),
    ],
)
async def test_a_wrong_input_is_a_result_that_says_what_to_send(given: Any, word: str) -> None:
    async with CodeMode(True) as cm:
        result = await cm.run([ECHO]).exec(given)
        assert isinstance(result, Failed)
        assert result.code == "invalid_input"
        assert word in result.error


@pytest.mark.req("exe.1")
@pytest.mark.parametrize(
    "given",
    [
        {"code": "return 1"},
        {"command": "return 1"},
        {"code": "return 1", "command": "return 1"},
        {"code": "", "command": "return 1"},
        {"code": "return 1", "language": "JavaScript"},
        {"code": "return 1 as number", "language": "typescript"},
        {"code": "return '\ud800'.length", "language": None, "restartSafe": None},
    ],
)
async def test_every_spelling_of_an_input_is_taken(make_run: Any, given: Any) -> None:
    assert (await make_run().exec(given)).to_dict().get("value") == 1


@pytest.mark.req("exe.1")
async def test_an_unknown_field_is_ignored_with_a_warning(make_run: Any) -> None:
    result = await make_run().exec(code("return 1", timeout=5))
    assert result.value == 1
    assert "timeout" in result.warnings[0]


@pytest.mark.req("wai.1", "wai.3", "wai.7", "exe.10")
async def test_a_slow_tool_is_waited_for_in_another_process(make_run: Any) -> None:
    slow, opened = gate()
    run = make_run([slow], config={"timeoutMs": 400})
    first = await run.exec(
        code(
            "let n = 1; text('a'); const r = await tools.callValue('slow', {}); text('b'); "
            "return [r, ++n];"
        )
    )
    assert isinstance(first, Waiting)
    assert first.reason == "pending_tools"
    assert [c.tool for c in first.pending_tool_calls] == ["openclaw:core:slow"]
    opened.set()
    last = await run.wait({"runId": first.run_id})
    assert isinstance(last, Completed)
    assert last.value == ["slow", 2]
    assert [o["text"] for o in (*first.output, *last.output)] == ["a", "b"]


@pytest.mark.req("gst.6", "wai.4")
async def test_yields_park_and_waits_go_on_with_the_same_id(make_run: Any) -> None:
    run = make_run()
    result = await run.exec(
        code("for (let i = 0; i < 3; i++) { text(`n${i}`); await yield_control('x'); } return 'e';")
    )
    run_id = result.run_id
    for n in range(3):
        assert isinstance(result, Waiting)
        assert (result.run_id, result.reason) == (run_id, "yield")
        assert [o["text"] for o in result.output] == [f"n{n}"]
        result = await run.wait({"runId": run_id})
    assert result.value == "e"


@pytest.mark.req("snp.1", "snp.4")
async def test_a_cell_outlives_its_worker_and_its_zygote(make_run: Any) -> None:
    slow, opened = gate()
    run = make_run([slow, ECHO], config={"timeoutMs": 600})
    result = await run.exec(
        code(
            """
            function* g() { yield 1; yield 2; }
            const it = g(); it.next();
            const key = {}, m = new Map([["k", key]]), ws = new WeakMap([[key, 5]]);
            const re = /a/g; re.lastIndex = 3;
            class P { #x = 4; get x() { return this.#x; } }
            const p = new P(), echo = tools.callValue;
            const both = Promise.all([tools.callValue("slow", {}), echo("echo", {big: 2n ** 70n})]);
            await yield_control();
            const [s, e] = await both;
            return [s, e.big, it.next().value, ws.get(m.get("k")), re.lastIndex, p.x,
                    (await echo("echo", {n: 1})).n];
            """
        )
    )
    assert isinstance(result, Waiting)
    pool = run._host.pool()
    os.kill(pool._zygote.pid, signal.SIGKILL)
    while not pool.lost:  # noqa: ASYNC110 -- it asks the process
        await asyncio.sleep(0.001)
    await pool.ready()
    opened.set()
    while isinstance(result, Waiting):
        result = await run.wait({"runId": result.run_id})
    assert result.to_dict().get("value") == ["slow", 2**70, 2, 5, 3, 4, 1]


@pytest.mark.req("wai.2")
@pytest.mark.parametrize("given", [None, {}, {"runId": 5}, {"runId": " "}, "cm_1"])
async def test_a_wait_without_a_run_id_is_told_what_to_send(given: Any) -> None:
    async with CodeMode(True) as cm:
        result = await cm.run([ECHO]).wait(given)
        assert isinstance(result, Failed)
        assert result.code == "invalid_input"
        assert "runId" in result.error


@pytest.mark.req("wai.2")
@pytest.mark.parametrize("end", ["return 1", "throw 1"])
async def test_a_wait_for_a_result_that_was_given_is_told_so(make_run: Any, end: str) -> None:
    run = make_run()
    run_id = (await run.exec(code(f"await yield_control(); {end}"))).run_id
    await run.wait({"runId": run_id})
    late = await run.wait({"runId": run_id})
    assert (late.status, late.code) == ("failed", "invalid_input")
    assert "already finished" in late.error
    assert "unavailable" in (await make_run().wait({"runId": run_id})).error


@pytest.mark.req("wai.2")
async def test_a_foreign_id_is_explained(make_run: Any) -> None:
    result = await make_run().wait({"runId": "proc-7"})
    assert isinstance(result, Failed)
    assert result.code == "invalid_input"
    for word in ("unavailable or expired", "status waiting", "exec"):
        assert word in result.error


@pytest.mark.req("wai.2")
@pytest.mark.parametrize(
    ("other", "word"),
    [
        ({"agent_id": "x"}, "agent"),
        ({"session_id": "x"}, "session"),
        ({"session_key": "x"}, "session"),
        ({"session_key": None}, "session"),
        ({"run_id": "x"}, "run"),
    ],
)
async def test_a_caller_of_another_scope_is_refused_and_the_owner_goes_on(
    make_cm: Any, other: dict[str, Any], word: str
) -> None:
    cm = make_cm()
    owner = cm.run([ECHO], scope=SCOPE)
    parked = await owner.exec(code("await yield_control(); return 1"))
    fields = {n: getattr(SCOPE, n) for n in ("agent_id", "session_id", "session_key", "run_id")}
    stranger = cm.run([ECHO], scope=Scope(**{**fields, **other}))
    refused = await stranger.wait({"runId": parked.run_id})
    assert isinstance(refused, Failed)
    assert f"different {word}" in refused.error
    again = cm.run([ECHO], scope=SCOPE)
    assert (await again.wait({"runId": parked.run_id})).value == 1


@pytest.mark.req("wai.2")
async def test_without_a_scope_only_the_same_run_may_wait(make_cm: Any) -> None:
    cm = make_cm()
    owner = cm.run([ECHO])
    parked = await owner.exec(code("await yield_control(); return 1"))
    assert (await cm.run([ECHO]).wait({"runId": parked.run_id})).status == "failed"
    assert (await owner.wait({"runId": parked.run_id})).value == 1


@pytest.mark.req("wai.2")
async def test_a_second_wait_is_refused_and_the_first_goes_on(make_run: Any) -> None:
    slow, opened = gate()
    run = make_run([slow], config={"timeoutMs": 600})
    parked = await run.exec(code(SLOW))
    first = asyncio.ensure_future(run.wait({"runId": parked.run_id}))
    await asyncio.sleep(0)
    second = await run.wait({"runId": parked.run_id})
    assert isinstance(second, Failed)
    assert "already" in second.error
    opened.set()
    assert (await first).value == "slow"


@pytest.mark.req("exe.16")
async def test_cells_share_nothing(make_run: Any) -> None:
    run = make_run()
    await run.exec(code("globalThis.x = 1; Object.prototype.y = 2; return 1"))
    assert (await run.exec(code("return [typeof x, typeof ({}).y]"))).value == [
        "undefined",
        "undefined",
    ]


@pytest.mark.req("exe.12", "exe.16", "cat.11")
async def test_twenty_cells_at_once_do_not_disturb_each_other(make_cm: Any) -> None:
    cm = make_cm()

    async def one(n: int) -> Any:
        async def own(_: Any, __: Any) -> int:
            await asyncio.sleep(0.001 * (n % 5))
            return n

        run = cm.run([Tool(name=f"t{n}", execute=own)], config={"timeoutMs": 8000 + n})
        return await run.exec(code(f"return await tools.callValue('openclaw:core:t{n}', {{}})"))

    results = await asyncio.gather(*(one(n) for n in range(20)))
    assert [r.to_dict().get("value") for r in results] == list(range(20))


@pytest.mark.req("saf.2")
async def test_the_loop_keeps_its_ticks_while_a_guest_spins(make_run: Any) -> None:
    run = make_run(config={"timeoutMs": 500})
    await run.exec(code("return 1"))
    gaps: list[float] = []
    loop = asyncio.get_running_loop()

    async def tick() -> None:
        last = loop.time()
        while True:
            await asyncio.sleep(0.001)
            gaps.append(loop.time() - last)
            last = loop.time()

    ticker = asyncio.ensure_future(tick())
    started = loop.time()
    result = await run.exec(code("while (true) {}"))
    assert loop.time() - started < 0.75
    ticker.cancel()
    assert (result.code, result.limit) == ("timeout", "time")
    assert sorted(gaps)[len(gaps) // 2] < 0.020
    assert (await run.exec(code("return 2"))).value == 2


@pytest.mark.req("wai.5")
async def test_closing_a_run_frees_its_cells_and_cancels_its_tools(make_run: Any) -> None:
    cancelled = asyncio.Event()

    async def slow(_: Any, __: Any) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    run = make_run([Tool(name="slow", execute=slow)], config={"timeoutMs": 300})
    parked = await run.exec(code(SLOW))
    assert parked.status == "waiting"
    await asyncio.wait_for(run.close(), 3)
    assert cancelled.is_set()
    with pytest.raises(RuntimeError, match="closed"):
        await run.exec(code("return 1"))


@pytest.mark.req("wai.5")
async def test_an_abort_frees_the_slot_at_once(make_run: Any) -> None:
    run = make_run(config={"max_suspended_cells": 3})
    for _ in range(5):
        parked = await run.exec(code("await yield_control('park'); return 1"))
        assert parked.status == "waiting"
        await run.abort(parked.run_id)
        assert (await run.wait({"runId": parked.run_id})).status == "failed"


@pytest.mark.req("saf.3")
async def test_a_cancelled_exec_leaves_no_tool_behind(make_run: Any) -> None:
    started, ended = asyncio.Event(), asyncio.Event()

    async def slow(_: Any, __: Any) -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    run = make_run([Tool(name="slow", execute=slow)])
    running = asyncio.ensure_future(run.exec(code(SLOW)))
    await started.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert ended.is_set()
    assert (await run.exec(code("return 1"))).value == 1


async def test_a_tool_that_will_not_be_cancelled_does_not_hold_close(make_cm: Any) -> None:
    stop = asyncio.Event()

    async def stubborn(_: Any, __: Any) -> None:
        while not stop.is_set():
            try:
                await stop.wait()
            except asyncio.CancelledError:  # noqa: PERF203
                continue

    cm = make_cm({"timeoutMs": 200})
    run = cm.run([Tool(name="slow", execute=stubborn)])
    assert (await run.exec(code(SLOW))).status == "waiting"
    await asyncio.wait_for(cm.close(), 3)
    stop.set()


@pytest.mark.req("exe.9", "srf.1", "act.5", "tel.2")
async def test_engaged_the_model_sees_the_controls_and_direct_tools() -> None:
    image = Tool(name="image", description="Loads.", execute=echo_value, direct_only=True)
    reply = Tool(name="reply", execute=echo_value)
    async with CodeMode(True) as cm:
        run = cm.run([ECHO, reply, image], visible=["reply"])
        assert [t.name for t in run.model_tools] == ["exec", "wait", "image", "reply"]
        assert all(isinstance(t, ModelTool) for t in run.model_tools)
        assert run.metadata["codeModeEngaged"] is True
        result = await run.exec(code("return ALL_TOOLS.map((t) => t.name)"))
        assert result.value == ["echo", "reply"]
        assert result.telemetry["visibleTools"] == ["exec", "wait", "image", "reply"]


@pytest.mark.req("srf.1", "act.5", "tel.2")
async def test_not_engaged_the_tools_are_the_same_objects() -> None:
    async with CodeMode(False) as cm:
        tools = [ECHO, Tool(name="b", execute=echo_value)]
        run = cm.run(tools)
        assert all(a is b for a, b in zip(run.model_tools, tools, strict=True))
        assert run.metadata["codeModeEngaged"] is False
        with pytest.raises(RuntimeError, match="disabled"):
            await run.exec(code("return 1"))


@pytest.mark.req("srf.2")
async def test_only_native_tools_can_be_kept_visible() -> None:
    foreign = Tool(name="f", execute=echo_value, source="mcp", owner="s")
    async with CodeMode(True) as cm:
        with pytest.raises(ValueError, match="'f'"):
            cm.run([ECHO, foreign], visible=["f"])


@pytest.mark.req("srf.7")
async def test_a_hidden_tool_is_answered_with_the_exec_form_and_not_run() -> None:
    ran: list[Any] = []
    hidden = Tool(name="web_search", execute=lambda v, _: ran.append(v))
    async with CodeMode(True) as cm:
        run = cm.run([hidden])
        for name in ("web_search", "tools.search", "MCP.github.createIssue", "search"):
            result = await run.call(name, {"q": 1})
            assert isinstance(result, Failed)
            assert "exec(" in result.error
        assert "openclaw:core:web_search" in (await run.call("web_search", {})).error
        assert ran == []


async def test_visible_tools_and_controls_are_dispatched_by_name(make_cm: Any) -> None:
    image = Tool(
        name="image",
        execute=lambda *_: ToolResult(content=[{"type": "image", "data": "x"}]),
        direct_only=True,
    )
    bad = Tool(name="bad", execute=lambda *_: 1 / 0, direct_only=True)
    run = make_cm().run([image, bad, ECHO])
    assert (await run.call("exec", code("return 1"))).value == 1
    assert (await run.call("wait", {"runId": "x"})).status == "failed"
    assert (await run.call("image", {})).content == [{"type": "image", "data": "x"}]
    failed = await run.call("bad", {})
    assert failed.is_error
    assert "division" in failed.content[0]["text"]


@pytest.mark.req("cat.8")
async def test_the_outer_exec_is_put_before_the_hooks(make_cm: Any) -> None:
    seen: list[Any] = []

    class Watch(Hooks):
        def before_tool_call(self, event: Any) -> Any:
            seen.append((event.name, event.tool_kind, event.tool_input_kind, event.call_id))
            if "blocked" in str(event.input):
                return Block("not today")
            return Change({"command": "return 42"}) if event.tool_kind else None

    run = make_cm().run([ECHO], hooks=Watch())
    assert (await run.exec(code("return 1", language="typescript"), call_id="c9")).value == 42
    refused = await run.exec(code("return 'blocked'"))
    assert isinstance(refused, Failed)
    assert "not today" in refused.error
    assert seen[0] == ("exec", "code_mode_exec", "typescript", "c9")


@pytest.mark.req("tel.2", "tel.3")
async def test_metadata_and_trajectory_tell_what_happened(make_run: Any) -> None:
    run = make_run([ECHO])
    run.record_turn()
    assert "costUsd" not in run.metadata
    run.record_turn(0.25)
    await run.exec(code("return await tools.callValue('echo', {a: 1})"), call_id="c7")
    assert run.metadata == {
        "codeModeEngaged": True,
        "assistantTurns": 2,
        "bridgeCalls": {"search": 0, "describe": 0, "call": 1},
        "costUsd": 0.25,
    }
    events = run.trajectory.events
    assert [(e["type"], e["name"]) for e in events] == [
        ("call_start", "exec"),
        ("call_start", "echo"),
        ("call_end", "echo"),
        ("call_end", "exec"),
    ]
    assert events[0]["toolKind"] == "code_mode_exec"
    assert {e.get("parentCallId") for e in events[1:3]} == {"c7"}


@pytest.mark.req("tel.2")
async def test_costs_add_up_and_a_turn_that_costs_nothing_is_cost_data() -> None:
    async with CodeMode(True) as cm:
        run = cm.run([ECHO])
        run.record_turn(0.0)
        assert run.metadata["costUsd"] == 0.0
        run.record_turn(0.25)
        run.record_turn(0.5)
        assert run.metadata["costUsd"] == 0.75


@pytest.mark.req("tel.3", "tel.4")
async def test_the_record_of_an_exec_tells_its_kind_its_cell_and_how_it_ended(
    make_run: Any,
) -> None:
    slow, _ = gate()
    run = make_run([slow])
    parked = await run.exec(code("await yield_control(); throw new Error('Bearer c4n4ry')"))
    await run.wait({"runId": parked.run_id})
    await run.exec({"code": 5}, call_id="bad")
    cut_off = asyncio.ensure_future(run.exec(code(SLOW, language="typescript")))
    while not any(e["name"] == "slow" for e in run.trajectory):  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    cut_off.cancel()
    with pytest.raises(asyncio.CancelledError):
        await cut_off
    outer = [e for e in run.trajectory if "parentCallId" not in e]
    starts = [e for e in outer if e["type"] == "call_start"]
    kinds = [e.get("toolInputKind") for e in starts]
    assert kinds == ["javascript", None, "typescript"]
    ends = [e for e in outer if e["type"] == "call_end"]
    assert [e["outcome"] for e in ends] == ["waiting", "failed", "failed", "cancelled"]
    assert ends[0]["runId"] == ends[1]["runId"] == parked.run_id
    assert ends[2]["callId"] == "bad"
    assert all(e["error"] for e in ends[1:3])
    assert "c4n4ry" not in run.trajectory.to_jsonl()


@pytest.mark.req("saf.5", "act.4")
async def test_without_a_worker_binary_nothing_runs_and_no_tool_is_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("codemode.engine.WORKER_PATH", "/nonexistent/worker")
    async with CodeMode(True) as cm:
        run = cm.run([ECHO])
        result = await run.exec(code("return 1"))
        assert isinstance(result, Failed)
        assert result.code == "runtime_unavailable"
        assert "/nonexistent/worker" in result.error
        assert run.engaged
        assert [tool.name for tool in run.model_tools] == ["exec", "wait"]
        hidden = await run.call("echo", {})
        assert isinstance(hidden, Failed)
        assert "exec({" in hidden.error


@pytest.mark.req("saf.5", "act.4")
@pytest.mark.parametrize("binary", ["/bin/true", "/bin/false", "/bin/cat"])
async def test_a_binary_that_is_no_worker_is_runtime_unavailable(
    monkeypatch: pytest.MonkeyPatch, binary: str
) -> None:
    monkeypatch.setattr("codemode.engine.WORKER_PATH", binary)
    async with CodeMode({"enabled": True, "timeoutMs": 300}) as cm:
        result = await asyncio.wait_for(cm.run([ECHO]).exec(code("return 1")), 5)
        assert isinstance(result, Failed)
        assert result.code == "runtime_unavailable"


async def test_a_dropped_code_mode_leaves_no_process() -> None:
    cm = CodeMode(True)
    await cm.run([ECHO]).exec(code("return 1"))
    pid = next(iter(cm._leases.values())).pool._zygote.pid
    del cm
    gc.collect()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_the_embedders_mistakes_are_exceptions_that_name_the_argument() -> None:
    cm = CodeMode(True)
    with pytest.raises(TypeError, match="tools"):
        cm.run([lambda: 1])  # type: ignore[list-item]
    with pytest.raises(TypeError, match="model"):
        cm.run([ECHO], model=5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="visible"):
        cm.run([ECHO], visible=["nope"])
    with pytest.raises(ValueError, match="client"):
        cm.run([ECHO]).append_client_tools([ECHO])


@pytest.mark.req("saf.1")
async def test_a_killed_worker_is_runtime_unavailable_and_the_next_exec_works(
    make_run: Any,
) -> None:
    run = make_run([ECHO])
    # A worker that has served before would be replaced without a word.
    running = asyncio.ensure_future(run.exec(code("while (true) {}")))
    await asyncio.sleep(0.05)
    (cell,) = run._cells
    os.kill(cell._live._worker.pid, signal.SIGKILL)
    result = await asyncio.wait_for(running, 5)
    assert isinstance(result, Failed)
    assert result.code == "runtime_unavailable"
    assert (await run.exec(code("return 2"))).value == 2


SCRIPT = """
import asyncio
from codemode import CodeMode, Tool

async def slow(value, ctx):
    await asyncio.sleep(60)

async def main():
    cm = CodeMode({"enabled": True, "timeoutMs": 300})
    await cm.ready()
    run = cm.run([Tool(name="slow", execute=slow)])
    result = await run.exec({"code": "return await tools.callValue('slow', {})"})
    print(result.status)
    %s
    return cm, run

kept = asyncio.run(main())
"""


@pytest.mark.parametrize(
    "last",
    [
        "pass",
        "asyncio.ensure_future(run.exec({'code': 'while (true) {}'})); await asyncio.sleep(0.05)",
        "asyncio.ensure_future(run.wait({'runId': result.run_id})); await asyncio.sleep(0.05)",
    ],
)
def test_a_program_that_ends_with_cells_open_ends_quietly(last: str) -> None:
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-c", SCRIPT % last],
        capture_output=True,
        text=True,
        timeout=30,
        env={"PYTHONPATH": ":".join(sys.path)},
    )
    assert done.stdout == "waiting\n"
    assert done.stderr == ""
    assert done.returncode == 0


@pytest.mark.req("tel.4")
async def test_a_debug_log_names_calls_and_holds_no_values(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("CODEMODE_DEBUG", "1")
    caplog.set_level("DEBUG")
    async with CodeMode(True) as cm:
        run = cm.run([ECHO])
        await run.exec(code("return await tools.callValue('echo', {canary: 'c4n4ry'})"))
    assert '"tool": "openclaw:core:echo"' in caplog.text
    assert '"engaged": true' in caplog.text
    assert "c4n4ry" not in caplog.text


@pytest.mark.req("wai.5")
async def test_a_run_forgets_a_cell_that_has_expired(make_run: Any) -> None:
    run = make_run(config={"snapshotTtlSeconds": 1})
    parked = await run.exec(code("await yield_control('park'); return 1"))
    (cell,) = run._cells
    assert cell._image
    while run._cells:  # noqa: ASYNC110 -- nothing tells that a cell has expired
        await asyncio.sleep(0.05)
    assert cell._image is None
    late = await run.wait({"runId": parked.run_id})
    assert late.code == "invalid_input"


async def test_a_host_may_run_a_program_where_the_model_does_not_see_code_mode() -> None:
    async with CodeMode() as cm:
        run = cm.run([])
        assert not run.engaged
        result = await run.exec(code("return ALL_TOOLS.length"))
        assert (result.status, result.value) == ("completed", 0)
        with pytest.raises(RuntimeError, match="not engaged"):
            await run.call("exec", code("return 1"))


@pytest.mark.req("exe.13")
@pytest.mark.parametrize(
    "program",
    [
        "await new Promise(() => {})",
        "await { then() {} }",
        "const t = setTimeout(() => {}, 60000); clearTimeout(t); await new Promise(() => {})",
        "await tools.echo({}); await new Promise(() => {})",
    ],
)
async def test_a_promise_that_nothing_can_settle_fails_at_once(make_run: Any, program: str) -> None:
    run = make_run([ECHO], config={"timeoutMs": 60_000})
    result = await run.exec(code(program))
    while result.status == "waiting" and result.pending_tool_calls:
        result = await run.wait({"runId": result.run_id})
    assert (result.status, result.code) == ("failed", "internal_error")
    assert "nothing left to wait for" in result.error


@pytest.mark.req("snp.3")
async def test_no_two_vms_share_random_numbers_and_time_goes_on_after_a_restore() -> None:
    program = """
        const before = [Math.random(), crypto.randomUUID()];
        const then = Date.now();
        await yield_control();
        return { before, after: [Math.random(), crypto.randomUUID()], slept: Date.now() - then };
    """
    async with CodeMode(True) as cm:
        run = cm.run([ECHO])
        waiting = [await run.exec(code(program)) for _ in range(8)]
        await asyncio.sleep(0.05)
        values = [(await run.wait({"runId": w.run_id})).value for w in waiting]
    drawn = [x for v in values for x in (*v["before"], *v["after"])]
    assert len(set(drawn)) == len(drawn) == 32
    assert all(v["slept"] >= 50 for v in values)


@pytest.mark.req("srf.7")
@pytest.mark.parametrize("name", [None, 3, {"name": "exec"}])
async def test_a_call_without_a_name_is_refused_in_words(make_run: Any, name: Any) -> None:
    result = await make_run().call(name, {})
    assert isinstance(result, Failed)
    assert "needs the name of a tool" in result.error


@pytest.mark.req("exe.10", "wai.1")
async def test_a_tool_that_blocks_the_host_past_the_deadline_costs_the_program_nothing(
    make_run: Any,
) -> None:
    block = Tool(name="block", execute=lambda *_: time.sleep(0.7) or "late")
    run = make_run((block,), config={"timeoutMs": 400})
    result = await run.exec({"code": "const v = await tools.block({}); return [v, 1]"})
    assert isinstance(result, Waiting), result
    assert result.pending_tool_calls == ()
    result = await run.wait({"runId": result.run_id})
    assert isinstance(result, Completed), result
    assert result.value == ["late", 1]


@pytest.mark.req("exe.10")
async def test_a_program_that_runs_on_after_a_call_is_still_ended(make_run: Any) -> None:
    quick = Tool(name="quick", execute=lambda *_: 1)
    run = make_run((quick,), config={"timeoutMs": 300})
    started = time.monotonic()
    result = await run.exec({"code": "await tools.quick({}); for (;;);"})
    assert (result.status, result.limit) == ("failed", "time")
    assert time.monotonic() - started < 3


@pytest.mark.req("wai.1", "exe.3")
async def test_a_wait_for_a_timer_alone_says_so(make_run: Any) -> None:
    run = make_run([gate()[0]], config={"timeoutMs": 100})
    result = await run.exec(code("await new Promise((r) => setTimeout(r, 55_000))"))
    for _ in range(2):
        assert (result.reason, result.pending_tool_calls) == ("pending_tools", ())
        assert len(result.warnings) == 1
        assert "only for a timer that is due in 5" in result.warnings[0]
        result = await run.wait({"runId": result.run_id})
    await run.abort()
    result = await run.exec(code("setTimeout(() => 0, 60_000); await tools.slow({})"))
    assert (len(result.pending_tool_calls), result.warnings) == (1, ())


@pytest.mark.req("gst.6")
async def test_the_reason_of_a_pause_is_told_once(make_run: Any) -> None:
    run = make_run()
    program = "setTimeout(() => 0, 60_000); await yield_control('half done'); await yield_control()"
    result = await run.exec(code(program))
    assert (result.reason, result.warnings) == ("yield", ("the program paused itself: half done",))
    result = await run.wait({"runId": result.run_id})
    assert (result.reason, result.warnings) == ("yield", ())
    result = await run.exec(code("await yield_control('x'.repeat(9e3))"))
    assert len(result.warnings[0]) < 600


@pytest.mark.req("exe.10", "wai.1")
def test_a_run_goes_on_in_another_event_loop_when_its_own_has_ended() -> None:
    async def slow(given: Any, _: Any) -> Any:
        await asyncio.sleep(given["s"])
        return "done"

    host = CodeMode({"enabled": True, "timeoutMs": 500})
    run = host.run([Tool(name="slow", execute=slow)])
    code = (
        "const first = await tools.slow({s: 30}).catch(e => e.message);"
        "return [first, await tools.slow({s: 0})]"
    )
    waiting = asyncio.run(run.exec({"code": code}))
    assert isinstance(waiting, Waiting)

    async def rest() -> Any:
        result = await run.wait({"runId": waiting.run_id})
        assert isinstance(await run.exec({"code": "return 1"}), Completed)
        await host.close()
        return result

    result = asyncio.run(rest())
    assert isinstance(result, Completed), result
    assert result.value == ["openclaw:core:slow was cancelled.", "done"]


async def test_a_run_is_in_one_event_loop_at_a_time() -> None:
    async with CodeMode(True) as host:
        run = host.run([Tool(name="get", execute=lambda *_: 1)])
        waiting = await run.exec({"code": "await yield_control(); return 1"})
        assert isinstance(waiting, Waiting)

        def elsewhere() -> str:
            with pytest.raises(RuntimeError) as raised:
                asyncio.run(run.wait({"runId": waiting.run_id}))
            return str(raised.value)

        assert "another event loop" in await asyncio.to_thread(elsewhere)
        assert isinstance(await run.wait({"runId": waiting.run_id}), Completed)
