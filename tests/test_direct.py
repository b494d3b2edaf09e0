"""Calls that the model makes itself, of tools that it sees."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import pytest

from codemode import CallEvent, CodeMode, Hooks, Tool
from codemode.agent.calls import call_plain
from codemode.agent.messages import ToolCall


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 cannot tell who was cancelled")
async def test_a_visible_tool_whose_own_work_was_cancelled_has_failed() -> None:
    async def execute(_: Any, __: Any) -> None:
        raise asyncio.CancelledError

    async with CodeMode(True) as cm:
        run = cm.run([Tool(name="t", execute=execute, direct_only=True)])
        result = await run.call("t", {})
    assert result.is_error
    assert "was cancelled" in result.content[0]["text"]


class Holding(Hooks):
    """Holds every call back until it is let go."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.go = asyncio.Event()

    async def before_tool_call(self, event: CallEvent) -> None:
        self.asked.set()
        await self.go.wait()


@pytest.mark.req("cat.8")
@pytest.mark.parametrize("end", ["abort", "close"])
async def test_a_visible_tool_does_not_run_after_its_run_has_ended(end: str) -> None:
    ran: list[Any] = []
    hooks = Holding()
    async with CodeMode(True) as cm:
        tool = Tool(name="t", execute=lambda given, _: ran.append(given), direct_only=True)
        run = cm.run([tool], hooks=hooks)
        calling = asyncio.ensure_future(run.call("t", {}))
        await hooks.asked.wait()
        await getattr(run, end)()
        hooks.go.set()
        result = await calling
    assert ran == []
    assert result.is_error
    assert "was not run" in result.content[0]["text"]


@pytest.mark.req("cat.8")
async def test_a_visible_tool_that_runs_hears_of_an_abort_and_keeps_its_result() -> None:
    began = asyncio.Event()

    async def execute(_: Any, ctx: Any) -> str:
        began.set()
        await ctx.aborted.wait()
        return "what there is"

    async with CodeMode(True) as cm:
        run = cm.run([Tool(name="t", execute=execute, direct_only=True)])
        calling = asyncio.ensure_future(run.call("t", {}))
        await began.wait()
        await run.abort("cm_of_a_cell")
        await asyncio.sleep(0)
        assert not calling.done()
        await run.abort()
        assert (await calling).value == "what there is"
        assert (await run.exec({"code": "return 1"})).value == 1


@pytest.mark.req("cat.8")
async def test_a_tool_of_a_run_without_code_mode_does_not_run_after_its_end() -> None:
    ran: list[Any] = []
    hooks = Holding()
    async with CodeMode(False) as cm:
        run = cm.run([Tool(name="t", execute=lambda given, _: ran.append(given))])
        call = ToolCall(id="c1", name="t", input={})
        calling = asyncio.ensure_future(call_plain(run, call, hooks))
        await hooks.asked.wait()
        await run.close()
        hooks.go.set()
        assert (await calling).is_error
    assert ran == []
