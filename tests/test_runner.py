"""The cell's state machine, against scripted workers."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from typing import TYPE_CHECKING, Any

import pytest
from tests.scripted import (
    Bench,
    Finished,
    Image,
    Script,
    Suspended,
    call,
    decode_all,
    gate,
)
from tests.scripted import Failed as FailedTurn

from codemode import Completed, Failed, Tool, Waiting
from codemode.config import CodeModeConfig
from codemode.executor import Executor
from codemode.native import RuntimeUnavailable
from codemode.store import Store
from codemode.worker import WorkerBroke

if TYPE_CHECKING:
    from collections.abc import Callable


def never() -> Tool:
    async def execute(_: Any, __: Any) -> None:
        await asyncio.Event().wait()

    return Tool(name="never", execute=execute)


def echo() -> Tool:
    async def execute(value: Any, _: Any) -> Any:
        return value

    return Tool(name="echo", execute=execute)


@pytest.mark.req("exe.3", "exe.11")
async def test_a_call_that_ends_in_time_is_delivered_in_the_same_exec() -> None:
    seen: list[Any] = []

    def script() -> Script:
        yield
        _, sent = yield Suspended(requests=[call(0, "echo", {"a": 1})])
        seen.extend(decode_all(sent["settlements"]))
        yield Finished(value=7, output=[{"type": "text", "text": "x"}], warnings=["w"])

    result = await Bench(script, tools=(echo(),)).start()
    assert isinstance(result, Completed)
    assert result.to_dict() == {
        "status": "completed",
        "value": 7,
        "output": [{"type": "text", "text": "x"}],
        "warnings": ["w"],
        "telemetry": {
            "catalogSize": 1,
            "sources": {"openclaw": 1, "mcp": 0, "client": 0},
            "counterScope": result.telemetry["counterScope"],
            "searchCount": 0,
            "describeCount": 0,
            "callCount": 1,
            "visibleTools": ["exec", "wait"],
        },
    }
    assert seen == [(0, True, {"a": 1})]


def suspends_once(seen: list[Any], *requests: Any) -> tuple[Callable[[], Script], ...]:
    """Two workers: one that makes calls and is parked, one that is restored and finishes."""

    def first() -> Script:
        yield
        method, _ = yield Suspended(
            requests=list(requests), output=[{"type": "text", "text": "early"}], output_used=9
        )
        seen.append(method)
        yield Image(bytes=b"one")

    def second() -> Script:
        method, sent = yield
        seen.append((method, sent["image"], sent["leg"].output_used, sent["release_yields"]))
        seen.append(decode_all(sent["settlements"]))
        yield Finished(value="done", output=[{"type": "text", "text": "late"}])

    return first, second


@pytest.mark.req("exe.10", "wai.1", "wai.4", "wai.7")
async def test_a_slow_tool_makes_it_wait_and_the_wait_delivers_its_result() -> None:
    seen: list[Any] = []
    slow, opened = gate("slow")
    bench = Bench(*suspends_once(seen, call(0, "slow")), tools=(slow,), timeout_ms=100)
    first = await bench.start()
    assert isinstance(first, Waiting)
    assert first.reason == "pending_tools"
    assert first.output == ({"type": "text", "text": "early"},)
    (pending,) = first.to_dict()["pendingToolCalls"]
    assert pending.pop("elapsedMs") >= 50
    assert pending == {"id": "c1:0", "tool": "openclaw:core:slow", "state": "running"}
    assert bench.pool.workers[0].discarded

    again = await bench.wait()
    assert isinstance(again, Waiting)
    assert again.run_id == first.run_id
    assert again.output == ()
    assert len(bench.pool.workers) == 1, "a wait with nothing to deliver uses no worker"

    opened.set()
    last = await bench.wait()
    assert isinstance(last, Completed)
    assert last.value == "done"
    assert last.output == ({"type": "text", "text": "late"},)
    assert seen == ["suspend", ("resume", b"one", 9, False), [(0, True, "slow")]]
    assert len(bench.store) == 0


@pytest.mark.req("wai.1")
async def test_a_wait_returns_as_soon_as_a_call_has_ended() -> None:
    slow, opened = gate("slow")
    bench = Bench(*suspends_once([], call(0, "slow")), tools=(slow,), timeout_ms=100)
    assert (await bench.start()).status == "waiting"
    bench.cell._config = CodeModeConfig(timeout_ms=60_000)
    waiting = asyncio.ensure_future(bench.wait())
    await asyncio.sleep(0.01)
    assert not waiting.done()
    opened.set()
    assert (await asyncio.wait_for(waiting, 5)).status == "completed"


@pytest.mark.req("exe.12")
async def test_results_are_delivered_in_the_order_in_which_calls_end() -> None:
    seen: list[Any] = []
    gates = [gate(name) for name in ("a", "b", "c")]
    requests = [call(n, name) for n, name in enumerate("abc")]
    bench = Bench(*suspends_once(seen, *requests), tools=tuple(t for t, _ in gates), timeout_ms=100)
    waiting = await bench.start()
    for n in (1, 2, 0):
        gates[n][1].set()
        await asyncio.sleep(0.001)
        left = {c.tool for c in bench.cell._calls.pending()}
        assert f"openclaw:core:{'abc'[n]}" not in left
    assert (await bench.wait()).status == "completed"
    assert [number for number, _, _ in seen[-1]] == [1, 2, 0]
    assert len(waiting.pending_tool_calls) == 3


@pytest.mark.req("exe.10")
async def test_results_that_come_late_are_kept_for_the_next_leg() -> None:
    async def late(_: Any, __: Any) -> int:
        await asyncio.sleep(0.06)
        return 1

    seen: list[Any] = []
    bench = Bench(
        *suspends_once(seen, call(0, "late")),
        tools=(Tool(name="late", execute=late),),
        timeout_ms=100,
        max_snapshot_bytes=1024,
    )
    result = await bench.start()
    assert isinstance(result, Waiting)
    assert result.pending_tool_calls == ()
    assert (await bench.wait()).status == "completed"
    assert seen[-1] == [(0, True, 1)]


@pytest.mark.req("gst.6", "exe.3")
async def test_a_yield_parks_at_once_and_the_wait_releases_it_at_once() -> None:
    seen: list[Any] = []

    def first() -> Script:
        yield
        yield Suspended(yielded="half")
        yield Image(bytes=b"one")

    def second() -> Script:
        _, sent = yield
        seen.append(sent["release_yields"])
        yield Suspended(requests=[call(0, "never")])
        yield Image(bytes=b"two")

    bench = Bench(first, second, tools=(never(),), timeout_ms=100)
    assert (await asyncio.wait_for(bench.start(), 1)).reason == "yield"
    assert (await bench.wait()).reason == "pending_tools"
    assert seen == [True]
    await bench.cell.abort()


@pytest.mark.req("gst.2")
async def test_a_timer_is_a_settle_without_settlements() -> None:
    seen: list[Any] = []

    def script() -> Script:
        yield
        method, sent = yield Suspended(timer_ms=5)
        seen.append((method, sent["settlements"]))
        yield Finished(value=1)

    assert (await Bench(script).start()).status == "completed"
    assert seen == [("settle", [])]


@pytest.mark.req("gst.2", "wai.1")
async def test_a_timer_beyond_the_deadline_is_waited_for_by_wait() -> None:
    seen: list[Any] = []

    def first() -> Script:
        yield
        yield Suspended(timer_ms=130)
        yield Image()

    def second() -> Script:
        _, sent = yield
        seen.append(sent["settlements"])
        yield Finished(value=1)

    bench = Bench(first, second, timeout_ms=100)
    assert (await bench.start()).status == "waiting"
    result = await bench.wait()
    while result.status == "waiting":
        result = await bench.wait()
    assert result.value == 1
    assert seen == [[]]


@pytest.mark.req("exe.14")
async def test_calls_beyond_the_limit_queue_and_run_in_order() -> None:
    running: list[int] = []
    most = 0

    async def work(value: Any, _: Any) -> None:
        nonlocal most
        running.append(value["n"])
        most = max(most, len(running))
        await asyncio.sleep(0.001)
        running.remove(value["n"])
        order.append(value["n"])

    order: list[int] = []

    def script() -> Script:
        yield
        got = 0
        _, sent = yield Suspended(requests=[call(n, "work", {"n": n}) for n in range(10)])
        while got + len(sent["settlements"]) < 10:
            got += len(sent["settlements"])
            _, sent = yield Suspended()
        yield Finished()

    bench = Bench(script, tools=(Tool(name="work", execute=work),), max_pending_tool_calls=3)
    assert (await bench.start()).status == "completed"
    assert most == 3
    assert sorted(order) == order == list(range(10))


@pytest.mark.req("exe.14", "wai.3")
async def test_what_a_parked_cell_has_queued_runs_without_a_turn_of_its_guest() -> None:
    ran: list[int] = []
    quick = Tool(name="quick", execute=lambda *_: ran.append(1))

    def first() -> Script:
        yield
        yield Suspended(requests=[call(n, "quick", {}) for n in range(10)], yielded="park")
        yield Image()

    bench = Bench(first, tools=(quick,), max_pending_tool_calls=2)
    assert (await bench.start()).status == "waiting"
    for _ in range(20):
        await asyncio.sleep(0)
    assert len(ran) == 10
    assert not bench.cell._calls.are_running
    await bench.cell.abort()


@pytest.mark.req("exe.14")
async def test_calls_that_have_ended_no_longer_count_towards_what_may_be_outstanding(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sizes = property(lambda turn: [40 << 20] * len(turn.requests))
    monkeypatch.setattr(Suspended, "request_sizes", sizes)

    def script() -> Script:
        yield
        for n in range(4):
            yield Suspended(requests=[call(n, "echo", {"n": n})])
        yield Finished(value=1)

    bench = Bench(script, tools=(echo(),))
    assert (await bench.start()).status == "completed"
    # Nor is anything of them kept.
    calls = bench.cell._calls
    assert not calls._tasks
    assert [one.arguments for one in calls._shown] == [None] * 4

    def two_at_once() -> Script:
        yield
        yield Suspended(requests=[call(n, "never", {}) for n in range(2)])

    bench = Bench(two_at_once, tools=(never(),))
    assert (await bench.start()).code == "runtime_unavailable"


@pytest.mark.req("exe.3")
async def test_searches_are_no_calls_that_had_been_dispatched() -> None:
    def script() -> Script:
        yield
        yield Suspended(requests=[(0, "search", "x", None), (1, "describe", "echo", None)])
        yield FailedTurn()

    result = await Bench(script, tools=(echo(),)).start()
    assert (result.tool_calls, result.tool_call_count) == ((), 0)


@pytest.mark.req("exe.14", "saf.3")
async def test_a_cell_that_failed_starts_nothing_that_was_queued_and_keeps_no_result() -> None:
    ran: list[str] = []
    slow, opened = gate("slow")
    other = Tool(name="other", execute=lambda *_: ran.append("other"))

    def script() -> Script:
        yield
        yield Suspended(requests=[call(0, "echo", {}), call(1, "slow"), call(2, "other", {})])
        yield FailedTurn()

    bench = Bench(script, tools=(echo(), slow, other), max_pending_tool_calls=1)
    assert (await bench.start()).status == "failed"
    (pending,) = bench.cell._calls.pending()
    assert pending.tool == "openclaw:core:slow"
    opened.set()
    await asyncio.wait(list(bench.tasks))
    assert not bench.cell._calls
    assert ran == []


@pytest.mark.req("exe.12")
async def test_a_defect_of_the_host_is_logged_and_the_guest_gets_an_error(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def run(*_: Any) -> bytes:
        raise KeyError("secret")

    monkeypatch.setattr(Executor, "run", run)
    seen: list[Any] = []

    def script() -> Script:
        yield
        _, sent = yield Suspended(requests=[call(0, "echo", {})])
        seen.extend(decode_all(sent["settlements"]))
        yield Finished()

    assert (await Bench(script, tools=(echo(),)).start()).status == "completed"
    assert seen == [(0, False, {"name": "Error", "message": "echo failed."})]
    assert "failed inside the host" in caplog.text


@pytest.mark.req("tel.3", "wai.5")
async def test_a_call_that_an_abort_has_ended_is_recorded_as_cancelled() -> None:
    told: list[bool] = []

    async def slow(_: Any, ctx: Any) -> None:
        aborted = ctx.aborted
        try:
            await asyncio.Event().wait()
        finally:
            told.append(aborted.is_set())

    tool = Tool(name="slow", execute=slow)
    bench = Bench(*suspends_once([], call(0, "slow", {})), tools=(tool,), timeout_ms=100)
    assert (await bench.start()).status == "waiting"
    await bench.cell.abort()
    assert told == [True]
    end = bench.trajectory.events[-1]
    assert (end["type"], end["outcome"]) == ("call_end", "cancelled")
    assert "error" not in end


@pytest.mark.req("exe.14")
async def test_a_queued_call_is_listed_as_queued() -> None:
    bench = Bench(
        *suspends_once([], call(0, "never"), call(1, "never")),
        tools=(never(),),
        timeout_ms=100,
        max_pending_tool_calls=1,
    )
    result = await bench.start()
    assert [c.state for c in result.pending_tool_calls] == ["running", "queued"]
    await bench.cell.abort()


@pytest.mark.req("exe.10", "saf.2")
async def test_a_guest_that_runs_on_is_a_timeout_soon_after_the_deadline() -> None:
    def script() -> Script:
        yield
        yield None

    bench = Bench(script, timeout_ms=100)
    started = asyncio.get_running_loop().time()
    result = await bench.start()
    assert asyncio.get_running_loop().time() - started < 0.25
    assert isinstance(result, Failed)
    assert (result.code, result.limit) == ("timeout", "time")
    assert "100 ms" in result.error


@pytest.mark.req("exe.3", "gst.3")
async def test_a_failure_keeps_output_and_tells_what_was_dispatched() -> None:
    slow, opened = gate("slow")

    async def bad(_: Any, __: Any) -> None:
        raise ValueError("no such port")

    def script() -> Script:
        yield
        yield Suspended(
            requests=[call(0, "echo", {}), call(1, "bad"), call(2, "slow")],
            output=[{"type": "text", "text": "one"}],
        )
        yield FailedTurn(
            message="Error: later bug",
            location=(3, 7),
            output=[{"type": "json", "value": 2}],
            warnings=["not awaited"],
        )

    bench = Bench(script, tools=(echo(), slow, Tool(name="bad", execute=bad)))
    result = await bench.start()
    assert isinstance(result, Failed)
    shown = result.to_dict()
    assert shown["code"] == "internal_error"
    assert shown["location"] == {"line": 3, "column": 7}
    assert [item["type"] for item in shown["output"]] == ["text", "json"]
    assert shown["warnings"] == ["not awaited"]
    assert shown["toolCallCount"] == 3
    assert shown["toolCalls"] == [
        {"tool": "openclaw:core:echo", "status": "ok"},
        {"tool": "openclaw:core:bad", "status": "error"},
        {"tool": "openclaw:core:slow", "status": "running"},
    ]
    # What runs already is not cut off: it ends once, and nobody is told.
    (task,) = bench.tasks
    opened.set()
    await task
    assert not bench.tasks


@pytest.mark.req("exe.12")
async def test_a_tool_error_is_a_plain_settlement_with_its_message_only() -> None:
    seen: list[Any] = []

    class Secret(Exception):
        pass

    async def bad(_: Any, __: Any) -> None:
        raise Secret("outer") from KeyError("inner")

    def script() -> Script:
        yield
        _, sent = yield Suspended(requests=[call(0, "bad")])
        seen.extend(decode_all(sent["settlements"]))
        yield Finished()

    await Bench(script, tools=(Tool(name="bad", execute=bad),)).start()
    assert seen == [(0, False, {"name": "Error", "message": "outer"})]


class Weird(BaseException):
    pass


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


@pytest.mark.req("gst.5", "saf.1")
@pytest.mark.parametrize(
    ("error", "message"),
    [
        (Weird("odd"), "odd"),
        (Mute(), "openclaw:core:bad failed without a message."),
        (asyncio.CancelledError(), "openclaw:core:bad was cancelled."),
        (StopAsyncIteration("stop"), "stop"),
        (ValueError("x" * 50_000), "x" * 10_000),
        (SystemExit(2), "openclaw:core:bad failed (system exit): 2"),
        (KeyboardInterrupt("stop"), "stop"),
        (GeneratorExit("gone"), "gone"),
    ],
)
async def test_whatever_a_tool_raises_the_guest_gets_an_error_and_the_host_lives(
    error: BaseException, message: str
) -> None:
    seen: list[Any] = []

    async def bad(_: Any, __: Any) -> None:
        raise error

    def script() -> Script:
        yield
        _, sent = yield Suspended(requests=[call(0, "bad")])
        seen.extend(decode_all(sent["settlements"]))
        yield Finished()

    result = await Bench(script, tools=(Tool(name="bad", execute=bad),)).start()
    assert result.status == "completed"
    assert seen == [(0, False, {"name": "Error", "message": message})]


@pytest.mark.req("saf.1")
def test_where_nobody_took_the_signal_over_an_interrupt_goes_through_to_the_host() -> None:
    async def bad(_: Any, __: Any) -> None:
        raise KeyboardInterrupt

    def script() -> Script:
        yield
        yield Suspended(requests=[call(0, "bad")])
        yield Finished()

    async def main() -> None:
        await Bench(script, tools=(Tool(name="bad", execute=bad),)).start()

    # Where the tests run in the background the signal is ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    loop = asyncio.new_event_loop()
    try:
        with pytest.raises(KeyboardInterrupt):
            loop.run_until_complete(main())
        for task in asyncio.all_tasks(loop):
            task.cancel()
        with contextlib.suppress(KeyboardInterrupt):
            loop.run_until_complete(asyncio.sleep(0.01))
    finally:
        loop.close()
        signal.signal(signal.SIGINT, before)


@pytest.mark.req("gst.4")
async def test_a_result_that_is_no_json_is_an_error_naming_the_path() -> None:
    seen: list[Any] = []

    async def odd(_: Any, __: Any) -> Any:
        return {"rows": [1, object()]}

    def script() -> Script:
        yield
        _, sent = yield Suspended(requests=[call(0, "odd")])
        seen.extend(decode_all(sent["settlements"]))
        yield Finished()

    await Bench(script, tools=(Tool(name="odd", execute=odd),)).start()
    ((_, ok, error),) = seen
    assert not ok
    assert "rows" in error["message"]
    assert "openclaw:core:odd" in error["message"]


@pytest.mark.req("saf.4")
@pytest.mark.parametrize(
    "turns",
    [
        [Suspended(requests=[call(1, "never"), call(1, "never")])],
        [Suspended(requests=[call(2, "never"), call(1, "never")])],
        [Suspended(requests=[(0, "eval", "x", None)])],
        [Suspended(requests=[call(n, "never") for n in range(4097)])],
        [Suspended()],
        [Image()],
        [Suspended(requests=[call(0, "echo", {})]), Suspended(requests=[call(0, "echo", {})])],
        [FailedTurn(code="panic")],
        [FailedTurn(limit="patience")],
        [Suspended(requests=[call(0, "never")]), Finished()],
        [WorkerBroke("malformed frame")],
    ],
    ids=range(11),
)
async def test_a_worker_that_lies_is_refused_and_killed(turns: list[Any]) -> None:
    def script() -> Script:
        yield
        for turn in turns:  # noqa: UP028 -- a list takes no `send`
            yield turn

    bench = Bench(script, tools=(echo(), never()), timeout_ms=100)
    result = await bench.start()
    assert isinstance(result, Failed)
    assert result.code == "runtime_unavailable"
    assert bench.pool.workers[0].discarded
    assert len(bench.store) == 0
    await bench.cell.abort()


@pytest.mark.req("saf.1")
@pytest.mark.parametrize("when", ["start", "settle", "suspend", "resume"])
async def test_a_worker_that_dies_is_runtime_unavailable_in_every_state(when: str) -> None:
    dead = RuntimeUnavailable("the worker was killed by signal 11 (SIGSEGV)")

    def first() -> Script:
        yield
        if when == "start":
            yield dead
        name = "echo" if when == "settle" else "slow"
        method, _ = yield Suspended(requests=[call(0, name, {})])
        assert method == ("settle" if when == "settle" else "suspend")
        yield dead if when in ("settle", "suspend") else Image()

    def second() -> Script:
        yield
        yield dead

    slow, opened = gate("slow")
    bench = Bench(first, second, tools=(echo(), slow), timeout_ms=100)
    result = await bench.start()
    if when == "resume":
        assert result.status == "waiting"
        opened.set()
        result = await bench.wait()
    opened.set()
    assert isinstance(result, Failed)
    assert result.code == "runtime_unavailable"
    assert "SIGSEGV" in result.error
    assert all(worker.discarded for worker in bench.pool.workers)
    assert len(bench.store) == 0


@pytest.mark.req("saf.1")
@pytest.mark.parametrize("soon", [True, False])
async def test_a_worker_that_takes_no_settlement_ends_the_cell_at_once(soon: bool) -> None:
    slow, opened = gate("slow")

    def script() -> Script:
        yield
        asyncio.get_running_loop().call_soon(opened.set)
        yield Suspended(requests=[call(0, "slow" if soon else "echo", {}), call(1, "never")])
        raise RuntimeUnavailable("the worker closed its socket")

    bench = Bench(script, tools=(echo(), slow, never()))
    result = await asyncio.wait_for(bench.start(), 5)
    assert result.code == "runtime_unavailable"
    await bench.cell.abort()


@pytest.mark.req("exe.10")
async def test_a_worker_that_dies_after_the_deadline_was_out_of_time() -> None:
    import time

    def script() -> Script:
        yield
        time.sleep(0.11)
        yield RuntimeUnavailable("the worker was killed by signal 14 (SIGALRM)")

    result = await Bench(script, timeout_ms=100).start()
    assert (result.code, result.limit) == ("timeout", "time")


@pytest.mark.req("wai.6", "snp.2")
async def test_an_image_over_the_limit_fails_and_leaves_nothing_behind() -> None:
    def script() -> Script:
        yield
        yield Suspended(yielded="")
        yield FailedTurn(code="snapshot_limit_exceeded", limit="snapshot", message="too large")

    bench = Bench(script)
    result = await bench.start()
    assert (result.code, result.limit) == ("snapshot_limit_exceeded", "snapshot")
    assert len(bench.store) == 0


def yields() -> Script:
    yield
    yield Suspended(yielded="park")
    yield Image()


@pytest.mark.req("wai.5")
async def test_at_the_cap_a_further_suspension_fails_and_a_resumed_cell_keeps_its_slot() -> None:
    store = Store()

    def yields_again() -> Script:
        yield
        yield Suspended(yielded="park")
        yield Image()

    first = Bench(yields, yields_again, store=store, max_suspended_cells=2)
    second = Bench(yields, store=store, max_suspended_cells=2)
    third = Bench(yields, store=store, max_suspended_cells=2)
    assert (await first.start()).status == "waiting"
    assert (await second.start()).status == "waiting"
    refused = await third.start()
    assert isinstance(refused, Failed)
    assert "too many suspended code mode runs" in refused.error
    assert refused.code == "invalid_input"
    assert (await first.wait()).status == "waiting"
    await second.cell.abort()
    assert (await Bench(yields, store=store, max_suspended_cells=2).start()).status == "waiting"


@pytest.mark.req("wai.5")
async def test_expiry_frees_the_cell_and_cancels_its_tools_without_anyone_calling() -> None:
    cancelled = asyncio.Event()

    async def slow(_: Any, ctx: Any) -> None:
        aborted = ctx.aborted
        try:
            await asyncio.Event().wait()
        finally:
            assert aborted.is_set()
            cancelled.set()

    bench = Bench(
        *suspends_once([], call(0, "slow")),
        tools=(Tool(name="slow", execute=slow),),
        timeout_ms=100,
        snapshot_ttl_seconds=1,
    )
    assert (await bench.start()).status == "waiting"
    await asyncio.wait_for(cancelled.wait(), 5)
    assert len(bench.store) == 0
    assert bench.cell._image is None


@pytest.mark.req("saf.3")
async def test_cancelling_the_caller_kills_the_worker_and_joins_the_tools() -> None:
    ended = asyncio.Event()
    started = asyncio.Event()

    async def slow(_: Any, __: Any) -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            ended.set()

    bench = Bench(*suspends_once([], call(0, "slow")), tools=(Tool(name="slow", execute=slow),))
    running = asyncio.ensure_future(bench.start())
    await started.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert ended.is_set()
    assert bench.pool.workers[0].discarded
    assert not bench.tasks


@pytest.mark.req("wai.5")
@pytest.mark.parametrize("busy", [True, False])
async def test_an_abort_ends_a_cell_that_runs(busy: bool) -> None:
    def script() -> Script:
        yield
        yield None if busy else Suspended(requests=[call(0, "never")])

    bench = Bench(script, tools=(never(),))
    running = asyncio.ensure_future(bench.start())
    await asyncio.sleep(0.01)
    await bench.cell.abort()
    result = await asyncio.wait_for(running, 1)
    assert isinstance(result, Failed)
    assert "aborted" in result.error
    assert bench.pool.workers[0].discarded


@pytest.mark.req("exe.15")
async def test_a_restart_safe_cell_never_drains_and_runs_only_replay_safe_tools() -> None:
    seen: list[Any] = []
    ran: list[str] = []

    def tool(name: str, safe: bool) -> Tool:
        return Tool(name=name, replay_safe=safe, execute=lambda *_: ran.append(name))

    def first() -> Script:
        yield
        yield Suspended(
            requests=[
                call(0, "openclaw:core:read"),
                call(1, "read"),
                call(2, "openclaw:core:write"),
                (3, "search", "", None),
            ][:3]
        )
        yield Image()

    def second() -> Script:
        _, sent = yield
        seen.extend(decode_all(sent["settlements"]))
        yield Finished()

    bench = Bench(
        first, second, tools=(tool("read", True), tool("write", False)), restart_safe=True
    )
    result = await asyncio.wait_for(bench.start(), 1)
    assert isinstance(result, Waiting)
    assert result.to_dict()["replaySafe"] is True
    assert (await bench.wait()).status == "completed"
    assert ran == ["read"]
    assert [ok for _, ok, _ in seen] == [True, False, False]
    assert "restartSafe" in seen[2][2]["message"]


@pytest.mark.req("exe.11")
async def test_results_go_in_one_after_the_other_while_another_call_runs_on() -> None:
    gates = {name: gate(name) for name in ("a", "b", "c", "hold")}
    seen: list[Any] = []

    def script() -> Script:
        yield
        turn = Suspended(requests=[call(n, name) for n, name in enumerate(gates)])
        for _, opened in gates.values():
            asyncio.get_running_loop().call_soon(opened.set)
            _, sent = yield turn
            seen.append([number for number, _, _ in sent["settlements"]])
            turn = Suspended()
        yield Finished()

    bench = Bench(script, tools=tuple(tool for tool, _ in gates.values()))
    assert (await asyncio.wait_for(bench.start(), 5)).status == "completed"
    assert seen == [[0], [1], [2], [3]]
    scheduled: Any = asyncio.get_running_loop()
    assert [one for one in scheduled._scheduled if not one.cancelled()] == []


@pytest.mark.req("gst.2")
async def test_a_timer_that_is_made_later_is_not_kept_waiting_for_the_deadline() -> None:
    slow, opened = gate("slow")
    methods: list[str] = []

    def script() -> Script:
        yield
        asyncio.get_running_loop().call_later(0.01, opened.set)
        yield Suspended(requests=[call(0, "slow")])
        method, _ = yield Suspended(timer_ms=20)
        methods.append(method)
        yield Finished()

    bench = Bench(script, tools=(slow,))
    assert (await asyncio.wait_for(bench.start(), 5)).status == "completed"
    assert methods == ["settle"]


@pytest.mark.req("exe.12")
async def test_with_every_turn_parked_a_program_gives_the_same() -> None:
    seen: list[Any] = []

    def first() -> Script:
        yield
        yield Suspended(requests=[call(0, "echo", {"a": 1})])
        yield Image(bytes=b"one")

    def second() -> Script:
        _, sent = yield
        seen.append((sent["image"], decode_all(sent["settlements"])))
        yield Finished(value=2)

    bench = Bench(first, second, tools=(echo(),))
    bench.cell._park_every_turn = True
    assert (await bench.start()).value == 2
    assert seen == [(b"one", [(0, True, {"a": 1})])]


@pytest.mark.req("saf.1")
async def test_a_turn_that_was_lost_with_the_zygote_is_run_again_once() -> None:
    dead = RuntimeUnavailable("the worker closed its socket")
    bench: Bench
    seen: list[Any] = []

    def lost() -> Script:
        yield
        bench.pool.lost += 1
        yield dead

    def first() -> Script:
        yield
        yield Suspended(requests=[call(0, "slow")])
        yield Image(bytes=b"one")

    def second() -> Script:
        _, sent = yield
        seen.append((sent["image"], decode_all(sent["settlements"])))
        yield Finished(value=1)

    slow, opened = gate("slow")
    bench = Bench(first, lost, second, tools=(slow,), timeout_ms=100)
    await bench.start()
    opened.set()
    assert (await bench.wait()).value == 1
    assert seen == [(b"one", [(0, True, "slow")])]

    bench = Bench(lost)
    assert (await bench.start()).code == "runtime_unavailable"
    assert len(bench.pool.workers) == 2
