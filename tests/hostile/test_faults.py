"""Processes that are killed at the worst moment, images that are damaged, callers that give up."""

# ruff: noqa: E501 -- a program is one line

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import random
import signal
import time
from typing import TYPE_CHECKING, Any

import pytest
from tests.hostile.harness import PROBE, PROBE_VALUE, children, nothing, resident, ticking
from tests.hostile.live import alive, descriptors, until, zygote_of

from codemode import CodeMode, CodeModeRun, Completed, Failed, Result, Tool, Waiting
from codemode.store import STORE
from codemode.worker import LiveWorker

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.hostile

MIB = 1 << 20
GUARD_S = 60.0

# Goes through every state of the protocol, and takes so long in each that a host which has to
# wait for a processor still kills it there.
TOUR = """
const spin = ms => { const t = performance.now(); while (performance.now() - t < ms); };
spin(60);
const known = ALL_TOOLS.length;
spin(60);
const echoed = await tools.echo({value: 41});
spin(60);
await yield_control("look around");
spin(60);
return echoed + known;
"""
TOUR_VALUE = 42
SPIN_S = 0.06
METHODS = ("start", "data", "settle", "suspend", "resume")


def echo() -> Tool:
    async def execute(given: Any, _: Any) -> Any:
        await asyncio.sleep(0)
        return given["value"]

    return Tool(name="echo", execute=execute)


class Saboteur:
    """Kills a process when the host sends a certain frame for the first time."""

    def __init__(self) -> None:
        self.plan: tuple[str, str, str, int] | None = None
        self.run: CodeModeRun | None = None
        self.done = False
        # How long after the frame the process was gone: a host that waits for a processor may
        # come too late to meet the state.
        self.late_s = 0.0
        # Whether the worker had served an earlier cell.
        self.kept = False

    def arm(self, method: str, when: str, victim: str, number: int, run: CodeModeRun) -> None:
        self.plan, self.run, self.done = (method, when, victim, number), run, False

    def strike(self, live: LiveWorker, method: str, when: str, sent: float = 0.0) -> None:
        if self.plan is None or self.plan[:2] != (method, when):
            return
        _, _, victim, number = self.plan
        self.plan = None
        assert self.run is not None
        pool = self.run._host.pool()
        end = time.monotonic() + 5
        while live._worker.pid is None and time.monotonic() < end:
            pool._poll()
        pid = live._worker.pid if victim == "worker" else zygote_of(self.run)
        assert pid, "the worker's process is not known"
        # The first SIGSEGV that is no fault may only put the handler back to the default.
        while alive(pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)
            time.sleep(0.001)
        self.late_s = time.perf_counter() - sent if sent else 0.0
        self.kept = live.kept
        self.done = True


@pytest.fixture
def saboteur(monkeypatch: pytest.MonkeyPatch) -> Saboteur:
    made = Saboteur()
    send = LiveWorker.send

    def sending(self: LiveWorker, method: str, *args: Any, **kwargs: Any) -> None:
        made.strike(self, method, "before")
        sent = time.perf_counter()
        send(self, method, *args, **kwargs)
        made.strike(self, method, "after", sent)

    monkeypatch.setattr(LiveWorker, "send", sending)
    return made


def kill_all(*pids: int) -> None:
    """Kills what of these is still there."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


async def tour(run: CodeModeRun) -> Result:
    """Takes the tour to its end, or to its failure."""
    result = await asyncio.wait_for(run.exec({"code": TOUR}), GUARD_S)
    for _ in range(5):
        if not isinstance(result, Waiting):
            return result
        result = await asyncio.wait_for(run.wait({"runId": result.run_id}), GUARD_S)
    raise AssertionError("it waits for ever")


async def works(run: CodeModeRun) -> None:
    """The next exec is right."""
    result = await asyncio.wait_for(run.exec({"code": PROBE}), GUARD_S)
    assert isinstance(result, Completed), result
    assert result.value == PROBE_VALUE


def check_fault(saboteur: Saboteur, result: Result, method: str, when: str, victim: str) -> None:
    """A fault is either survived with the right value, or told as what it is."""
    if isinstance(result, Completed):
        assert result.value == TOUR_VALUE
        # A worker may live a moment longer than its zygote, and a turn that was lost with the
        # zygote is run again; an image may be there before a kill that follows its question.
        survives = victim == "zygote" or (method, when) == ("suspend", "after")
        # One that had served an earlier cell is replaced until its first turn has ended.
        replaced = saboteur.kept and method in ("start", "data", "resume")
        assert survives or replaced or saboteur.late_s > SPIN_S
        return
    assert isinstance(result, Failed)
    assert result.code == "runtime_unavailable", result


@pytest.mark.parametrize("victim", ["worker", "zygote"])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV], ids=["kill", "segv"])
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.req("saf.1", "saf.2", "exe.4")
async def test_a_process_that_dies_in_any_state_is_told_and_the_next_exec_works(
    saboteur: Saboteur, method: str, when: str, number: int, victim: str
) -> None:
    async with CodeMode({"enabled": True, "timeoutMs": 20_000}) as cm:
        await cm.ready()
        run = cm.run([echo()])
        saboteur.arm(method, when, victim, number, run)
        result = await tour(run)
        assert saboteur.done
        check_fault(saboteur, result, method, when, victim)
        await works(run)


@pytest.mark.req("saf.1")
async def test_workers_that_die_idle_are_not_noticed_by_anyone() -> None:
    async with CodeMode({"enabled": True, "timeoutMs": 20_000}) as cm:
        await cm.ready()
        run = cm.run([echo()])
        for _ in range(5):
            await works(run)
            kill_all(*children(zygote_of(run)))
            await asyncio.sleep(0.05)
        result = await tour(run)
        assert isinstance(result, Completed)
        assert result.value == TOUR_VALUE


@pytest.mark.parametrize(
    "rounds", [60, pytest.param(500, marks=pytest.mark.slow)], ids=lambda n: f"{n} rounds"
)
@pytest.mark.req("saf.1", "saf.3")
async def test_rounds_of_kills_leak_nothing(saboteur: Saboteur, rounds: int) -> None:
    chance = random.Random(7)
    before: tuple[int, int] | None = None
    mine = children(os.getpid())
    for number in range(rounds // 5):
        # A new pool now and then, so that zygotes are counted too.
        async with CodeMode({"enabled": True, "timeoutMs": 20_000}) as cm:
            await cm.ready()
            run = cm.run([echo()])
            for _ in range(5):
                plan = (
                    chance.choice(METHODS),
                    chance.choice(("before", "after")),
                    chance.choice(("worker", "worker", "zygote")),
                )
                saboteur.arm(*plan, chance.choice((signal.SIGKILL, signal.SIGSEGV)), run)
                check_fault(saboteur, await tour(run), *plan)
                # The loss of a zygote may be noticed only now, and a turn be run again for it.
                await works(run)
        if number % 3 == 2:
            gc.collect()
            now = (descriptors(), resident())
            before = before or now
            assert now[0] <= before[0]
            assert now[1] < before[1] + 64 * MIB
    await until(lambda: children(os.getpid()) == mine, "the end of all processes")
    assert len(STORE) == 0


@pytest.mark.req("exe.16", "saf.2", "cat.11")
async def test_twenty_cells_at_once_do_not_disturb_each_other() -> None:
    kinds = ("call", "loop", "memory", "output", "wait")

    def tools_of(number: int) -> list[Tool]:
        async def execute(given: Any, _: Any) -> Any:
            await asyncio.sleep(0.01 * (number % 4))
            return number * 1000 + given["n"]

        return [Tool(name=f"only_{number}", execute=execute), nothing()]

    async with CodeMode({"enabled": True, "timeoutMs": 20_000}) as cm:
        await cm.ready()

        async def one(number: int) -> None:
            kind = kinds[number % len(kinds)]
            config = {
                "loop": {"timeoutMs": 200 + 10 * number},
                "memory": {"memoryLimitBytes": (2 + number) * MIB},
                "output": {"maxOutputBytes": 1024 + number},
            }.get(kind, {})
            run = cm.run(tools_of(number), config=config)
            code = {
                "call": f"const a = []; for (let n = 0; n < 20; n++) a.push(await tools.only_{number}({{n}})); return [ALL_TOOLS.length, a]",
                "loop": "for (;;);",
                "memory": "const a = []; for (;;) a.push(new Uint8Array(1e5))",
                "output": "for (;;) text('x'.repeat(100))",
                "wait": f"const p = tools.only_{number}({{n: 5}}); await yield_control(); return await p",
            }[kind]
            result = await run.exec({"code": code})
            while isinstance(result, Waiting):
                result = await run.wait({"runId": result.run_id})
            if kind == "call":
                assert isinstance(result, Completed), result
                assert result.value == [2, [number * 1000 + n for n in range(20)]]
            elif kind == "wait":
                assert isinstance(result, Completed), result
                assert result.value == number * 1000 + 5
            else:
                assert isinstance(result, Failed), result
                assert result.limit == {"loop": "time"}.get(kind, kind), result
                if kind == "output":
                    shown = sum(len(item["text"]) for item in result.output)
                    assert 900 < shown <= 1024 + number

        for _ in range(3):
            await asyncio.wait_for(asyncio.gather(*(one(n) for n in range(20))), GUARD_S)


@pytest.mark.req("saf.2")
async def test_the_loop_ticks_while_guest_code_spins(record_property: Any) -> None:
    stalls: list[float] = []
    async with CodeMode({"enabled": True, "timeoutMs": 1_000}) as cm:
        await cm.ready()
        run = cm.run([nothing()])
        async with ticking(stalls):
            result = await run.exec({"code": "while (true) {}"})
    assert isinstance(result, Failed)
    assert result.limit == "time"
    median = stalls[len(stalls) // 2]
    record_property("stall of the loop, median ms", round(median * 1e3, 3))
    # The target is 2 ms; a busy machine may take the processor away from us for longer.
    assert len(stalls) > 20
    assert median < 0.05


async def parked(run: CodeModeRun, code: str = TOUR) -> Any:
    """A cell of `run` that is suspended, and its id."""
    result = await run.exec({"code": code})
    assert isinstance(result, Waiting), result
    return STORE._slots[result.run_id].cell, result.run_id


def damages(image: bytes) -> Iterator[tuple[str, bytes]]:
    """Images that are none, with a word of the refusal."""
    chance = random.Random(11)
    yield "not an image", b""
    yield "not an image", b"not an image"
    yield "not an image", image[:39]
    yield "not an image", bytes(len(image))
    yield "not an image", chance.randbytes(len(image))
    for word, text in ((1, "format"), (2, "build"), (3, "template"), (4, "template")):
        at = word * 8
        yield text, image[:at] + bytes([image[at] ^ 1]) + image[at + 1 :]
    # Lengths of the chunk, counts, checksum.
    for at in (40, len(image) - 24, len(image) - 16, len(image) - 8):
        for value in (0, 1, 1 << 31, (1 << 64) - 1):
            changed = image[:at] + value.to_bytes(8, "little") + image[at + 8 :]
            if changed != image:
                yield "damaged", changed
    for _ in range(30):
        at = chance.randrange(40, len(image))
        yield (
            "damaged",
            image[:at] + bytes([image[at] ^ 1 << chance.randrange(8)]) + image[at + 1 :],
        )
    for size in (40, 41, 64, 72, len(image) // 2, len(image) - 1):
        yield "damaged", image[:size]
    yield "damaged", image + b"\0"
    yield "damaged", image + image


@pytest.mark.req("snp.4", "wai.6")
async def test_a_damaged_or_foreign_image_is_refused_and_says_why() -> None:
    async with CodeMode({"enabled": True, "timeoutMs": 20_000}) as cm:
        await cm.ready()
        run = cm.run([echo()])
        code = TOUR.replace("spin(60)", "spin(0)")
        first, run_id = await parked(run, code)
        image = first._image
        assert image is not None
        done = await run.wait({"runId": run_id})
        assert isinstance(done, Completed)
        for word, damaged in damages(image):
            cell, run_id = await parked(run, code)
            cell._image = damaged
            result = await asyncio.wait_for(run.wait({"runId": run_id}), GUARD_S)
            assert isinstance(result, Failed), (word, result)
            assert result.code in ("runtime_unavailable", "internal_error")
            assert word in result.error, (word, result.error)
        await works(run)
    assert len(STORE) == 0


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.req("saf.3", "exe.2")
async def test_callers_that_give_up_anywhere_leave_nothing_behind(seed: int) -> None:
    chance = random.Random(seed)
    alive = 0

    async def slow(given: Any, _: Any) -> Any:
        nonlocal alive
        alive += 1
        try:
            await asyncio.sleep(chance.random() * 0.05)
            return given.get("value")
        finally:
            alive -= 1

    mine = children(os.getpid())
    async with CodeMode({"enabled": True, "timeoutMs": 20_000}) as cm:
        await cm.ready()
        run = cm.run([Tool(name="slow", execute=slow)])
        code = (
            "const some = await Promise.all([1, 2, 3].map(value => tools.slow({value})));"
            "await yield_control();"
            "return [some, await tools.slow({value: 4})]"
        )
        for _ in range(40):

            async def whole() -> Result:
                result = await run.exec({"code": code})
                while isinstance(result, Waiting):
                    result = await run.wait({"runId": result.run_id})
                return result

            task = asyncio.create_task(whole())
            await asyncio.sleep(chance.random() * 0.12)
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                result = await task
                assert isinstance(result, Completed), result
                assert result.value == [[1, 2, 3], 4]
        await works(run)
        # Cancelled between two calls, a cell stays parked for its owner; nothing runs in it.
        await until(lambda: alive == 0, "the end of all tools")
        assert run._cells == {slot.cell for slot in STORE._slots.values()}
    assert len(STORE) == 0
    await until(lambda: children(os.getpid()) == mine, "the end of all processes")


@pytest.mark.req("snp.1", "wai.6")
async def test_a_cell_outlives_all_workers_and_the_zygote() -> None:
    async with CodeMode({"enabled": True, "timeoutMs": 20_000}) as cm:
        await cm.ready()
        run = cm.run([echo()])
        _, run_id = await parked(run)
        zygote = zygote_of(run)
        kill_all(*children(zygote), zygote)
        result = await asyncio.wait_for(run.wait({"runId": run_id}), GUARD_S)
        assert isinstance(result, Completed), result
        assert result.value == TOUR_VALUE
        assert zygote_of(run) != zygote


@pytest.mark.req("snp.2")
async def test_a_large_live_heap_does_not_become_an_image() -> None:
    async with CodeMode({"enabled": True, "timeoutMs": 20_000}) as cm:
        run = cm.run([nothing()])
        result = await run.exec(
            {"code": "const s = 'ab'.repeat(6e6); await yield_control(); return s.length"}
        )
        assert isinstance(result, Failed), result
        assert (result.code, result.limit) == ("snapshot_limit_exceeded", "snapshot")
        assert len(STORE) == 0
        await works(run)


@pytest.mark.parametrize(
    "garbage",
    [
        "let a = new Uint8Array(2e7).fill(7); a = null;",
        "let a = Array.from({length: 2e5}, (_, i) => ({i, s: 'x' + i})); a = null;",
        "let a = 'ab'.repeat(1e7); a = null;",
        "let a = new Map(); for (let i = 0; i < 1e5; i++) a.set(i, [i]); a.clear(); a = null;",
        "let a = []; for (let i = 0; i < 2e5; i++) { const o = {}; o.o = o; a.push(o); } a = null;",
    ],
    ids=["buffer", "objects", "string", "map", "cycles"],
)
@pytest.mark.req("snp.2")
async def test_memory_that_was_freed_is_not_in_the_image(garbage: str) -> None:
    async with CodeMode({"enabled": True, "timeoutMs": 20_000}) as cm:
        run = cm.run([nothing()])
        cell, run_id = await parked(run, f"{garbage} await yield_control(); return 'on'")
        assert len(cell._image) < MIB // 2
        assert cell._image_size < MIB // 2
        result = await run.wait({"runId": run_id})
        assert isinstance(result, Completed)
        assert result.value == "on"


# Suspended coroutines that only their own locals reach: garbage while they are suspended.
_COROUTINES = """
const churn = () => { for (let i = 0; i < 3000; i++) { const o = {}; o.o = [o, 'x' + i]; } };
let seen = 0;
for (let round = 0; round < 30; round++) {
  for (let i = 0; i < 30; i++) {
    (() => {
      const held = {n: i};
      const f = async () => { const own = [() => p, held]; await new Promise(() => own); return own; };
      const p = f();
      held.p = p;
    })();
    (() => {
      function* g() { const own = {get me() { return it; }}; yield own; yield own; }
      const it = g();
      it.next();
    })();
    (() => {
      async function* g() { const own = () => it; for (;;) yield await own; }
      const it = g();
      it.next();
      seen++;
    })();
    (() => {
      let go;
      const f = async () => { const own = () => [go, f]; await {then(r) { go = r; go.own = own; }}; };
      f();
    })();
  }
  churn();
  await null;
  if (round % 10 === 5) await yield_control();
}
churn();
return seen;
"""


@pytest.mark.req("snp.1", "saf.1")
async def test_suspended_coroutines_that_are_garbage_are_collected_safely() -> None:
    async with CodeMode({"enabled": True, "timeoutMs": 30_000}) as cm:
        run = cm.run([nothing()])
        result = await run.exec({"code": _COROUTINES})
        waits = 0
        while isinstance(result, Waiting):
            waits += 1
            result = await asyncio.wait_for(run.wait({"runId": result.run_id}), GUARD_S)
        assert isinstance(result, Completed), result
        assert (result.value, waits) == (900, 3)
