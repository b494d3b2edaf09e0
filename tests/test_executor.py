"""The path of one nested call, asked for by a scripted worker."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.scripted import Bench, Finished, Image, Script, Suspended, call, decode_all

from codemode import (
    Block,
    CallEvent,
    Change,
    CodeMode,
    GuestError,
    Hooks,
    NeedsApproval,
    Replace,
    Tool,
    ToolResult,
)


async def settled(
    request: tuple[int, str, str, object],
    *tools: Tool,
    hooks: Hooks | None = None,
    **config: Any,
) -> tuple[bool, Any, Bench]:
    """How a call ended: ok, value or error."""
    seen: list[Any] = []

    def script() -> Script:
        yield
        _, sent = yield Suspended(requests=[request])
        seen.extend(decode_all(sent["settlements"]))
        yield Finished()

    bench = Bench(script, tools=tools, hooks=hooks, **config)
    assert (await bench.start()).status == "completed"
    ((_, ok, value),) = seen
    return ok, value, bench


def giving(result: Any, name: str = "t", **kwargs: Any) -> Tool:
    async def execute(_: Any, __: Any) -> Any:
        return result

    return Tool(name=name, execute=execute, **kwargs)


BLOCKS = [{"type": "text", "text": "hi"}]


@pytest.mark.req("cat.7")
@pytest.mark.parametrize(
    ("result", "value", "whole"),
    [
        (
            {"a": 1},
            {"a": 1},
            {"content": [{"type": "text", "text": '{"a":1}'}], "details": {"a": 1}},
        ),
        ("x", "x", {"content": [{"type": "text", "text": "x"}], "details": "x"}),
        (
            ToolResult(content=BLOCKS, details=[1]),
            [1],
            {"content": BLOCKS, "details": [1]},
        ),
        (ToolResult(content=BLOCKS), {"content": BLOCKS}, {"content": BLOCKS}),
    ],
)
async def test_call_value_gives_details_and_call_gives_all(
    result: Any, value: Any, whole: Any
) -> None:
    assert (await settled((0, "callValue", "t", {}), giving(result)))[:2] == (True, value)


async def test_a_plain_function_is_a_tool_too() -> None:
    tool = Tool(name="t", execute=lambda value, _: value["a"] + 1)
    assert (await settled((0, "callValue", "t", {"a": 1}), tool))[:2] == (True, 2)


@pytest.mark.req("cat.2")
@pytest.mark.parametrize("target", ["mcp:s:t", "t"])
async def test_an_mcp_tool_is_only_reached_as_one(target: str) -> None:
    tool = giving(1, source="mcp", owner="s")
    ok, error, _ = await settled((0, "callValue", target, {}), tool)
    assert not ok
    assert "MCP.<server>.<tool>" in error["message"]
    assert (await settled((0, "mcp", "mcp:s:t", {}), tool))[:2] == (True, 1)
    assert not (await settled((0, "mcp", "t", {}), tool))[0]


@pytest.mark.req("cat.2")
async def test_a_direct_only_tool_is_not_reached() -> None:
    ok, error, _ = await settled(
        (0, "callValue", "image", {}), giving(1, "image", direct_only=True)
    )
    assert not ok
    assert "outside exec" in error["message"]


@pytest.mark.req("cat.10")
@pytest.mark.parametrize("value", ["text", 3, [1], True])
async def test_a_client_tool_takes_an_object_and_nothing_is_run_without(value: Any) -> None:
    ran: list[Any] = []
    tool = Tool(name="t", source="client", execute=lambda v, _: ran.append(v))
    ok, error, _ = await settled((0, "callValue", "t", value), tool)
    assert not ok
    assert "object" in error["message"]
    assert ran == []
    assert (await settled((0, "callValue", "t", None), tool))[0]
    assert ran == [{}]


class Recorder(Hooks):
    def __init__(self, before: Any = None, after: Any = None, approval: Any = False) -> None:
        self.before, self.after, self.approval = before, after, approval
        self.events: list[CallEvent] = []
        self.asked: list[str] = []
        self.log: list[Any] = []

    def before_tool_call(self, event: CallEvent) -> Any:
        self.events.append(event)
        if isinstance(self.before, Exception):
            raise self.before
        return self.before

    async def approve(self, event: CallEvent, prompt: str) -> Any:
        self.asked.append(prompt)
        if isinstance(self.approval, asyncio.Event):
            await self.approval.wait()
            return True
        if isinstance(self.approval, Exception):
            raise self.approval
        return self.approval

    async def after_tool_call(self, event: CallEvent, result: Any) -> Any:
        if isinstance(self.after, Exception):
            raise self.after
        return self.after

    def on_event(self, event: Any) -> None:
        self.log.append(event)


def echo(ran: list[Any]) -> Tool:
    def execute(value: Any, _: Any) -> Any:
        ran.append(value)
        return value

    return Tool(name="t", execute=execute)


@pytest.mark.req("cat.8")
@pytest.mark.parametrize(
    ("hooks", "ok", "value", "runs"),
    [
        (Recorder(), True, {"a": 1}, [{"a": 1}]),
        (Recorder(Change({"a": 2})), True, {"a": 2}, [{"a": 2}]),
        (Recorder(Block("no writes today")), False, "no writes today", []),
        (Recorder(NeedsApproval("sure?"), approval=True), True, {"a": 1}, [{"a": 1}]),
        (Recorder(NeedsApproval("sure?"), approval=False), False, "denied", []),
        (Recorder(NeedsApproval("sure?"), approval="yes"), False, "denied", []),
        (Recorder(NeedsApproval("sure?"), approval=ValueError("x")), False, "check failed", []),
        (Recorder(ValueError("secret")), False, "check failed", []),
        (Recorder("block"), False, "check failed", []),
        (Recorder(after=Replace(5)), True, 5, [{"a": 1}]),
        (Recorder(after=ValueError("secret")), False, "has run", [{"a": 1}]),
        (Recorder(GuestError("own words")), False, "own words", []),
    ],
    ids=range(12),
)
async def test_hooks_decide(hooks: Recorder, ok: bool, value: Any, runs: list[Any]) -> None:
    ran: list[Any] = []
    got_ok, got, _ = await settled((0, "callValue", "t", {"a": 1}), echo(ran), hooks=hooks)
    assert (got_ok, ran) == (ok, runs)
    if ok:
        assert got == value
    else:
        assert value in got["message"]
        assert "secret" not in got["message"]
    (event,) = hooks.events
    assert (event.call_id, event.parent_call_id) == ("c1:0", "c1")
    assert (event.name, event.tool_id, event.input) == ("t", "openclaw:core:t", {"a": 1})


@pytest.mark.req("wai.3", "cat.8")
async def test_approval_may_take_longer_than_the_deadline_and_runs_once() -> None:
    granted = asyncio.Event()
    hooks = Recorder(NeedsApproval("sure?"), approval=granted)
    seen: list[Any] = []

    def first() -> Script:
        yield
        yield Suspended(requests=[call(0, "t", {"a": 1})])
        yield Image()

    def second() -> Script:
        _, sent = yield
        seen.extend(decode_all(sent["settlements"]))
        yield Finished()

    ran: list[Any] = []
    bench = Bench(first, second, tools=(echo(ran),), hooks=hooks, timeout_ms=100)
    waiting = await bench.start()
    assert [c.state for c in waiting.pending_tool_calls] == ["approval"]
    assert [c.state for c in (await bench.wait()).pending_tool_calls] == ["approval"]
    granted.set()
    assert (await bench.wait()).status == "completed"
    assert ran == [{"a": 1}]
    assert hooks.asked == ["sure?"]
    assert seen == [(0, True, {"a": 1})]


@pytest.mark.req("cat.8", "tel.3")
async def test_the_record_shows_the_call_its_parent_its_updates_and_its_end() -> None:
    async def execute(_: Any, ctx: Any) -> int:
        ctx.update({"done": 1, "token": "hush"})
        return 3

    hooks = Recorder()
    _, _, bench = await settled(
        (0, "callValue", "t", {"password": "hush"}), Tool(name="t", execute=execute), hooks=hooks
    )
    events = bench.trajectory.events
    assert [e["type"] for e in events] == ["call_start", "call_update", "call_end"]
    assert all(e["parentCallId"] == "c1" and e["callId"] == "c1:0" for e in events)
    assert all(e["tool"] == "openclaw:core:t" for e in events)
    assert events[1]["partial"] == {"done": 1, "token": "[redacted]"}
    assert events[2]["outcome"] == "ok"
    assert events[2]["durationMs"] >= 0
    assert hooks.log == events
    assert "hush" not in bench.trajectory.to_jsonl()


@pytest.mark.req("tel.3")
async def test_nothing_of_a_call_is_recorded_after_its_end() -> None:
    held: list[Any] = []

    async def execute(_: Any, ctx: Any) -> None:
        held.append(ctx)
        asyncio.get_running_loop().call_soon(ctx.update, "late")

    hooks = Recorder()
    _, _, bench = await settled((0, "callValue", "t", {}), Tool(name="t", execute=execute))
    async with CodeMode(True) as cm:
        run = cm.run([Tool(name="t", execute=execute, direct_only=True)], hooks=hooks)
        await run.call("t", {})
        for ctx in held:
            ctx.update("later")
    for events in (bench.trajectory.events, hooks.log):
        assert [e["type"] for e in events] == ["call_start", "call_end"]


@pytest.mark.req("tel.3")
async def test_a_failed_call_is_recorded_as_an_error() -> None:
    async def execute(_: Any, __: Any) -> None:
        raise ValueError("no such port")

    _, _, bench = await settled((0, "callValue", "t", {}), Tool(name="t", execute=execute))
    end = bench.trajectory.events[-1]
    assert (end["outcome"], end["error"]) == ("error", "no such port")


@pytest.mark.req("gst.5")
async def test_error_details_can_be_switched_off() -> None:
    async def execute(_: Any, __: Any) -> None:
        raise ValueError("/srv/secret")

    tool = Tool(name="t", execute=execute)
    _, error, _ = await settled((0, "callValue", "t", {}), tool, error_details="generic")
    assert error == {"name": "Error", "message": "openclaw:core:t failed."}


async def test_a_tool_may_word_and_name_its_own_guest_error() -> None:
    async def execute(_: Any, __: Any) -> None:
        raise GuestError("gone", name="SwarmAgentError", fields={"runId": "x"})

    _, error, _ = await settled((0, "callValue", "t", {}), Tool(name="t", execute=execute))
    assert error == {"name": "SwarmAgentError", "message": "gone", "runId": "x"}


async def test_an_error_of_a_tool_whose_fields_cannot_cross_keeps_its_message() -> None:
    async def execute(_: Any, __: Any) -> None:
        raise GuestError("gone", name="Odd", fields={"x": object()})

    _, error, _ = await settled((0, "callValue", "t", {}), Tool(name="t", execute=execute))
    assert error == {"name": "Error", "message": "gone"}


async def test_what_a_plain_tool_gives_may_be_anything_that_can_be_awaited() -> None:
    def execute(_: Any, __: Any) -> Any:
        future = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().call_soon(future.set_result, 7)
        return future

    assert (await settled((0, "callValue", "t", {}), Tool(name="t", execute=execute)))[1] == 7


TEXT = {
    "type": "object",
    "properties": {"text": {"type": "string"}},
    "required": ["text"],
    "additionalProperties": False,
}


@pytest.mark.req("cat.9")
@pytest.mark.parametrize("op", ["callValue", "call"])
@pytest.mark.parametrize(
    ("result", "after", "ok"),
    [
        (ToolResult(content=BLOCKS, details={"text": "x"}), None, True),
        (ToolResult(content=BLOCKS, details={"text": 5}), None, False),
        (ToolResult(content=BLOCKS), None, False),
        ({"text": 5}, Replace({"text": "x"}), True),
        ({"text": "x"}, Replace({"text": 5}), False),
    ],
    ids=range(5),
)
async def test_the_value_after_hooks_is_what_was_declared(
    op: str, result: Any, after: Any, ok: bool
) -> None:
    tool = giving(result, output_schema=TEXT)
    got, value, _ = await settled((0, op, "t", {}), tool, hooks=Recorder(after=after))
    assert got is ok
    assert ok or "declared form" in value["message"]


@pytest.mark.req("cat.9", "cat.10")
async def test_schemas_of_client_and_mcp_tools_are_not_enforced() -> None:
    strict = {**TEXT, "properties": {"text": {"type": "integer"}}}
    schemas = {"parameters": strict, "output_schema": {"type": "nonsense"}}
    client = giving({"n": 1}, source="client", **schemas)
    assert (await settled((0, "callValue", "t", {"a": 1}), client))[:2] == (True, {"n": 1})
    mcp = giving({"n": 1}, source="mcp", owner="s", **schemas)
    assert (await settled((0, "mcp", "mcp:s:t", {"a": 1}), mcp))[:2] == (True, {"n": 1})


@pytest.mark.req("cat.8", "cat.10")
async def test_an_input_that_a_hook_has_changed_is_checked_as_well() -> None:
    ran: list[Any] = []
    tool = Tool(name="t", parameters=TEXT, execute=lambda value, _: ran.append(value))
    hooks = Recorder(Change({"text": 5, "more": 1}))
    ok, error, _ = await settled((0, "callValue", "t", {"text": "x"}), tool, hooks=hooks)
    assert not ok
    assert "was not run" in error["message"]
    assert ran == []
    hooks = Recorder(Change({"text": "y"}))
    assert (await settled((0, "callValue", "t", {"nope": 1}), tool, hooks=hooks))[0]
    assert ran == [{"text": "y"}]


@pytest.mark.req("wai.3")
async def test_a_call_that_was_approved_is_running_again() -> None:
    opened = asyncio.Event()

    async def slow(_: Any, __: Any) -> None:
        await opened.wait()

    def script() -> Script:
        yield
        yield Suspended(requests=[call(0, "t", {})])
        yield Image()

    hooks = Recorder(NeedsApproval("sure?"), approval=True)
    bench = Bench(script, tools=(Tool(name="t", execute=slow),), hooks=hooks, timeout_ms=100)
    assert [c.state for c in (await bench.start()).pending_tool_calls] == ["running"]
    await bench.cell.abort()


@pytest.mark.req("cat.6")
@pytest.mark.parametrize(
    ("limit", "found"), [(0, 1), (-5, 1), (2, 2), (99, 3), (True, 2), ("9", 2), (None, 2)]
)
async def test_the_limit_of_a_search_is_clamped(limit: Any, found: int) -> None:
    tools = tuple(giving(1, name) for name in "abcde")
    request = (0, "search", "", {"limit": limit})
    settings = {"search_default_limit": 2, "max_search_limit": 3}
    _, value, _ = await settled(request, *tools, **settings)
    assert len(value) == found


@pytest.mark.req("tel.1")
async def test_only_calls_that_reach_a_tool_are_counted() -> None:
    _, _, bench = await settled((0, "callValue", "t", {}), giving(1))
    assert bench.counters.totals == {"search": 0, "describe": 0, "call": 1}
