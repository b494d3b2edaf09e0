"""Tools begin at once, and are ordinary tasks all the same (exe.12)."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import sys
from typing import Any

import pytest

from codemode import CodeMode, Tool
from codemode.eager import start

NEW_TIMEOUT = sys.version_info >= (3, 11)


def _soon(loop: asyncio.AbstractEventLoop, act: Any) -> asyncio.Future[Any]:
    """What `act` gives when the loop calls it, outside of any task."""
    done: asyncio.Future[Any] = loop.create_future()
    loop.call_soon(lambda: done.set_result(act()))
    return done


class Turns:
    """Counts the turns of the running loop from `count` on."""

    def __init__(self) -> None:
        self.number = 0
        self.going = True

    def count(self) -> None:
        self.number += 1
        if self.going:
            asyncio.get_running_loop().call_soon(self.count)


async def test_a_task_that_does_not_wait_ends_before_start_returns() -> None:
    loop = asyncio.get_running_loop()
    seen: list[Any] = []

    async def work() -> int:
        seen.append(asyncio.current_task())
        return 7

    task = await _soon(loop, lambda: (t := start(loop, work()), t.done())[0:2])
    assert task[1] is True
    assert task[0].result() == 7
    assert seen == [task[0]]


async def test_a_task_that_waits_goes_on_later() -> None:
    loop = asyncio.get_running_loop()
    gate = loop.create_future()
    order = []

    async def work() -> str:
        order.append("began")
        return str(await gate)

    def act() -> asyncio.Task[Any]:
        task = start(loop, work())
        order.append("started")
        return task

    task = await _soon(loop, act)
    assert order == ["began", "started"]
    assert not task.done()
    gate.set_result("x")
    assert await task == "x"


async def test_inside_of_another_task_it_is_a_task_as_well() -> None:
    loop = asyncio.get_running_loop()
    me = asyncio.current_task()

    async def work() -> Any:
        await asyncio.sleep(0)
        return asyncio.current_task()

    task = start(loop, work())
    assert asyncio.current_task() is me
    assert await task is task


async def test_nothing_else_in_the_queue_of_the_loop_moves() -> None:
    loop = asyncio.get_running_loop()
    order: list[str] = []

    async def work() -> None:
        loop.call_soon(order.append, "from the task")
        order.append("task")

    def act() -> None:
        loop.call_soon(order.append, "before")
        start(loop, work())
        loop.call_soon(order.append, "after")

    await _soon(loop, act)
    await asyncio.sleep(0)
    assert order == ["task", "before", "from the task", "after"]


async def test_a_failure_is_in_the_task_and_context_does_not_leak() -> None:
    loop = asyncio.get_running_loop()
    var: contextvars.ContextVar[int] = contextvars.ContextVar("var", default=0)

    async def work() -> None:
        var.set(1)
        raise ValueError("no")

    task = await _soon(loop, lambda: start(loop, work()))
    with pytest.raises(ValueError, match="no"):
        await task
    assert var.get() == 0


async def test_a_loop_with_a_task_factory_makes_its_own_tasks() -> None:
    loop = asyncio.get_running_loop()
    made: list[Any] = []

    def factory(loop: Any, coro: Any, **more: Any) -> asyncio.Task[Any]:
        made.append(coro)
        return asyncio.Task(coro, loop=loop, **more)

    async def work() -> int:
        return 3

    loop.set_task_factory(factory)
    try:
        assert await start(loop, work()) == 3
    finally:
        loop.set_task_factory(None)
    assert len(made) == 1


@pytest.mark.req("exe.12")
async def test_a_call_for_which_there_is_no_task_has_failed(
    caplog: pytest.LogCaptureFixture,
) -> None:
    loop = asyncio.get_running_loop()
    code = """
      const call = () => tools.tick({}).catch(e => e.message);
      return await Promise.all([call(), call(), call()])"""

    def factory(loop: Any, coro: Any, **more: Any) -> asyncio.Task[Any]:
        raise RuntimeError("no more tasks")

    async with CodeMode({"enabled": True, "maxPendingToolCalls": 1}) as cm:
        run = cm.run([Tool(name="tick", execute=lambda *_: 1)])
        await run.exec({"code": "return 1"})
        running = asyncio.ensure_future(run.exec({"code": code}))
        await asyncio.sleep(0)
        loop.set_task_factory(factory)
        try:
            result = await running
        finally:
            loop.set_task_factory(None)
        assert result.to_dict()["value"] == ["openclaw:core:tick was not run."] * 3
        assert (await run.exec({"code": "return tools.tick({})"})).to_dict()["value"] == 1
    assert "no more tasks" in caplog.text


async def test_what_a_task_factory_put_into_the_queue_stays_in_its_place() -> None:
    loop = asyncio.get_running_loop()
    order: list[str] = []

    def factory(loop: Any, coro: Any, **more: Any) -> asyncio.Task[Any]:
        task = asyncio.Task(coro, loop=loop, **more)
        loop.call_soon(order.append, "factory")
        return task

    async def work() -> None:
        order.append("task")

    def act() -> None:
        loop.call_soon(order.append, "before")
        start(loop, work())

    loop.set_task_factory(factory)
    try:
        await _soon(loop, act)
    finally:
        loop.set_task_factory(None)
    await asyncio.sleep(0)
    assert order == ["before", "task", "factory"]


async def test_a_call_needs_no_turn_of_the_loop() -> None:
    turns = Turns()
    seen: list[int] = []

    async def tick(arguments: Any, ctx: Any) -> None:
        seen.append(turns.number)

    async with CodeMode({"enabled": True, "maxPendingToolCalls": 64}) as cm:
        run = cm.run([Tool(name="tick", execute=tick)])
        turns.count()
        result = await run.exec(
            {"code": "await Promise.all(Array.from({length: 20}, () => tools.tick({}))); return 1"}
        )
        turns.going = False
    assert result.to_dict()["value"] == 1
    assert len(set(seen)) == 1


async def test_many_calls_do_not_hold_the_loop() -> None:
    turns = Turns()
    seen: list[int] = []

    async with CodeMode({"enabled": True, "maxPendingToolCalls": 4}) as cm:
        run = cm.run([Tool(name="tick", execute=lambda *_: seen.append(turns.number))])
        turns.count()
        result = await run.exec(
            {"code": "await Promise.all(Array.from({length: 40}, () => tools.tick({}))); return 1"}
        )
        turns.going = False
    assert result.to_dict()["value"] == 1
    assert len(seen) == 40
    # Once by itself, once because the worker spoke.
    assert max(seen.count(t) for t in seen) <= 2 * 4


@pytest.mark.skipif(not NEW_TIMEOUT, reason="asyncio.timeout came with Python 3.11")
async def test_a_tool_may_use_what_needs_a_task() -> None:
    async def slow(arguments: Any, ctx: Any) -> str:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(0.01):
                await asyncio.sleep(10)
        return "late"

    async with CodeMode({"enabled": True}) as cm:
        run = cm.run([Tool(name="slow", execute=slow)])
        result = await run.exec({"code": "return await tools.slow({})"})
    assert result.to_dict()["value"] == "late"


@pytest.mark.req("wai.7")
async def test_a_tool_that_ends_its_own_cell_is_cancelled_where_it_waits() -> None:
    ended: list[str] = []

    async with CodeMode({"enabled": True}) as cm:

        async def end(arguments: Any, ctx: Any) -> None:
            (cell,) = run._cells
            cell.dispose()
            try:
                await asyncio.sleep(10)
            except asyncio.CancelledError:
                ended.append("cancelled")
                raise

        run = cm.run([Tool(name="end", execute=end)])
        result = await run.exec({"code": "await tools.end({}); return 1"})
        assert result.to_dict()["status"] == "failed"
        assert "aborted" in result.to_dict()["error"]
        await asyncio.sleep(0)
        assert ended == ["cancelled"], "at once, not when the run is closed"
        after = await run.exec({"code": "return 2"})
        assert after.to_dict()["value"] == 2
    assert ended == ["cancelled"]
