"""Workers that lie: whatever they say, the host has its answer, in time, and is as it was."""

# ruff: noqa: E501 -- a program is one line

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, seed, settings
from tests.fakes import frames
from tests.fakes.impostor import Impostor, Lie, Script, impostor
from tests.hostile.harness import PROBE, PROBE_VALUE, children, resident
from tests.hostile.lies import LEGS
from tests.hostile.live import descriptors, until

from codemode import CodeMode, CodeModeRun, Completed, Failed, Tool, Waiting
from codemode.store import STORE

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine, Iterator

pytestmark = [
    pytest.mark.hostile,
    pytest.mark.skipif(sys.platform != "linux", reason="workers need Linux"),
]

MIB = 1 << 20
TIMEOUT_S = 0.1
# saf.2: what the caller waits at most beyond the deadline.
LATE_S = 0.25
# How long one lie may keep the loop from its other work, in seconds of the processor: others may
# want that as well.
STALL_S = 0.2
# Examples of which hypothesis keeps account at once; it takes some 26 KiB for each.
_BATCH = 1000
# Says one frame of each kind.
PROGRAM = "const known = ALL_TOOLS.length; text('hi'); const echoed = await tools.echo({value: 41}); await yield_control(); return echoed + known"


async def _echo(given: Any, _: Any) -> Any:
    return given["value"] if isinstance(given, dict) and "value" in given else None


def _clock() -> float:
    """The time, less what this thread has waited for a processor that others had, seconds."""
    waited = 0
    with contextlib.suppress(OSError, IndexError):
        waited = int(Path("/proc/thread-self/schedstat").read_text("ascii").split()[1])
    return time.monotonic() - waited / 1e9


@contextlib.asynccontextmanager
async def burning(stalls: list[float]) -> AsyncIterator[None]:
    """Notes how much of the processor this thread had between two ticks of the loop, seconds."""

    async def tick() -> None:
        before = time.thread_time()
        while True:
            await asyncio.sleep(0.001)
            now = time.thread_time()
            stalls.append(now - before)
            before = now

    ticker = asyncio.create_task(tick())
    try:
        yield
    finally:
        ticker.cancel()
        await asyncio.gather(ticker, return_exceptions=True)


class Scene:
    """A host among liars, for many programs one after the other."""

    def __init__(self, host: CodeMode, fake: Impostor) -> None:
        self.fake = fake
        self._host = host
        self.run: CodeModeRun
        self.results: dict[str, int] = {}

    def renew(self) -> None:
        """Begins another run."""
        self.run = self._host.run([Tool(name="echo", execute=_echo)])

    async def play(self, legs: list[list[Lie]]) -> tuple[float, float]:
        """Runs the program; gives how late an answer was and how long the loop stood still."""
        self.fake.script = Script([list(leg) for leg in legs])
        stalls: list[float] = []
        async with burning(stalls):
            late, begun = 0.0, _clock()
            result = await self.run.exec({"code": PROGRAM})
            for _ in range(3):
                late = max(late, _clock() - begun - TIMEOUT_S)
                if not isinstance(result, Waiting):
                    break
                begun = _clock()
                result = await self.run.wait({"runId": result.run_id})
            await asyncio.sleep(0.002)
        assert isinstance(result, Completed | Failed | Waiting)
        result.to_dict()
        what = getattr(result, "code", result.status)
        self.results[what] = self.results.get(what, 0) + 1
        await self.run.abort()
        return late, max(stalls)

    async def check(self, legs: list[list[Lie]]) -> None:
        """Plays, and looks at what is left."""
        # A run keeps its trajectory as long as it lives.
        self.renew()
        late, stall = await self.play(legs)
        for _ in range(4):
            if late < LATE_S and stall < STALL_S:
                break
            # The machine may be at fault, but not every time.
            late, stall = await self.play(legs)
        assert late < LATE_S
        assert stall < STALL_S
        assert len(STORE) == 0
        assert not self.run._cells
        assert not self.run._tasks
        await self.works()
        await self.run.close()

    async def works(self) -> None:
        """The next exec is right, with a worker that does not lie."""
        self.fake.script = Script()
        # The least deadline there is may pass while others have the processor.
        for _ in range(20):
            result = await self.run.exec({"code": PROBE})
            if isinstance(result, Completed):
                break
            assert isinstance(result, Failed)
            assert result.code == "timeout", result
        assert isinstance(result, Completed), result
        assert result.value == PROBE_VALUE


class Loop:
    """An event loop that outlives the single examples of a test."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.loop = asyncio.new_event_loop()
        self.complaints: list[Any] = []
        self.loop.set_exception_handler(lambda _, context: self.complaints.append(context))
        self._patch = patch

    def do(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Runs it to its end."""
        return self.loop.run_until_complete(work)

    async def open(self) -> Scene:
        self._fake = impostor(self._patch)
        fake = await self._fake.__aenter__()
        self._host = CodeMode({"enabled": True, "timeoutMs": int(TIMEOUT_S * 1000)})
        scene = Scene(self._host, fake)
        await self._host.ready()
        await scene.check([])
        return scene

    async def close(self) -> None:
        await self._host.close()
        await self._fake.__aexit__(None, None, None)


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Loop, Scene]]:
    """Nothing of it is left at the end."""
    mine = children(os.getpid())
    loop = Loop(monkeypatch)
    scene = loop.do(loop.open())
    yield loop, scene
    loop.do(loop.close())
    loop.do(until(lambda: children(os.getpid()) == mine, "the end of all processes"))
    loop.loop.close()
    assert not loop.complaints


def check_many(stage: tuple[Loop, Scene], examples: int) -> None:
    loop, scene = stage
    size = min(examples, _BATCH)

    @settings(
        max_examples=size,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(LEGS)
    def lies_do_no_harm(legs: list[list[Lie]]) -> None:
        loop.do(scene.check(legs))

    gc.collect()
    fds, before = descriptors(), resident()
    for number in range(examples // size):
        seed(number)(lies_do_no_harm)()
        gc.collect()
    print(scene.results)
    # What is on its way to its end, and a cache here and there.
    loop.do(until(lambda: descriptors() <= fds + 4, "the end of all descriptors"))
    assert asyncio.all_tasks(loop.loop) <= scene.fake.tasks
    assert resident() < before + 96 * MIB
    assert {"completed", "runtime_unavailable", "timeout"} <= scene.results.keys()


@pytest.mark.parametrize(
    "examples", [200, pytest.param(20_000, marks=pytest.mark.slow)], ids=lambda n: f"{n} examples"
)
@pytest.mark.req("saf.1", "saf.2", "saf.4", "exe.2")
def test_no_lie_harms_the_host(stage: tuple[Loop, Scene], examples: int) -> None:
    check_many(stage, examples)


def _finished(value: bytes) -> bytes:
    rest = frames.items([]) + frames.items([]) + b"\0\0"
    return frames.frame(0x82, frames.blob(value) + rest)


def _many(count: int, each: bytes) -> bytes:
    return b"\7" + count.to_bytes(4, "little") + each * count


def _calling(value: bytes, target: str = "echo") -> bytes:
    request = frames.varint(1) + frames.blob("call") + frames.blob(target) + frames.blob(value)
    return frames.frame(0x81, frames.items([request]) + frames.items([]) + b"\0\0\0\0")


# Made when they are needed: together they are large.
LARGE: dict[str, Callable[[], list[Lie]]] = {
    "a value of empty objects": lambda: [
        Lie(0, "instead", _finished(_many(5_000_000, b"\x08\0\0\0\0")))
    ],
    "a value of empty lists": lambda: [Lie(0, "instead", _finished(_many(150_000, b"\7\0\0\0\0")))],
    "a value of nulls": lambda: [Lie(0, "instead", _finished(_many(20_000_000, b"\0")))],
    "a long text": lambda: [Lie(0, "instead", _finished(b"\6" + frames.blob("x" * 20_000_000)))],
    "an input of empty objects": lambda: [
        Lie(0, "instead", _calling(_many(3_000_000, b"\x08\0\0\0\0")))
    ],
    "a large input that is allowed": lambda: [
        Lie(0, "instead", _calling(_many(75_000, b"\x08\1\0\0\0\1a\0")))
    ],
    "a long target": lambda: [Lie(0, "instead", _calling(b"\0", "x" * 20_000_000))],
    "a long error": lambda: [
        Lie(0, "instead", frames.failed("internal_error", "", "x" * 20_000_000))
    ],
    "long warnings": lambda: [Lie(0, "instead", frames.finished(1, [], ["x" * 1000] * 20_000))],
    "a large image": lambda: [Lie(2, "instead", frames.image(bytes(20_000_000), 1))],
    "an image of large parts": lambda: [Lie(2, "flood", frames.image_part(bytes(MIB)))],
    "an image of empty parts": lambda: [Lie(2, "flood", frames.image_part(b"") * 10_000)],
    "parts of an image instead of a turn": lambda: [Lie(0, "flood", frames.image_part(b"x"))],
    "output without end": lambda: [
        Lie(0, "flood", frames.suspended([], [{"type": "text", "text": "x" * MIB}], timer_ms=0))
    ],
    "questions without end": lambda: [Lie(0, "flood", frames.fetch(1, ""))],
    "turns without end": lambda: [Lie(0, "flood", frames.suspended([], [], timer_ms=0))],
    "calls without end": lambda: [Lie(0, "flood", frames.suspended([(1, "call", "echo", 1)]))],
    "an announced length": lambda: [Lie(0, "instead", b"\0\0\0\1\x84")],
    "nothing instead of an image": lambda: [Lie(2, "drop")],
    "half of an image": lambda: [Lie(2, "cut", number=2000)],
}


@pytest.mark.parametrize("leg", LARGE.values(), ids=LARGE.keys())
@pytest.mark.req("saf.2", "saf.4", "snp.2")
def test_large_lies_take_no_memory_and_no_time(
    stage: tuple[Loop, Scene], leg: Callable[[], list[Lie]]
) -> None:
    loop, scene = stage
    lies = leg()
    before = resident(row="VmHWM")
    loop.do(scene.check([lies]))
    assert resident(row="VmHWM") < before + 160 * MIB


REUSABLE = {
    "and dies": [Lie(0, "instead", frames.finished(1)[:-1] + b"\1")],
    "and babbles": [Lie(0, "instead", frames.finished(1)[:-1] + b"\1" + frames.frame(0x7F))],
    "and has begun to answer": [
        Lie(0, "instead", frames.finished(1)[:-1] + b"\1" + frames.finished(2)[:5])
    ],
}


@pytest.mark.parametrize("leg", REUSABLE.values(), ids=REUSABLE.keys())
@pytest.mark.req("saf.2", "saf.4", "exe.16")
def test_a_worker_that_only_claims_to_be_reusable_costs_no_exec(
    stage: tuple[Loop, Scene], leg: list[Lie]
) -> None:
    loop, scene = stage

    async def once() -> None:
        scene.fake.script = Script([leg])
        result = await scene.run.exec({"code": PROGRAM})
        assert isinstance(result, Completed), result
        assert result.value == 1
        result = await scene.run.exec({"code": PROBE})
        if not isinstance(result, Failed) or result.code != "timeout":
            assert isinstance(result, Completed), result
            assert result.value == PROBE_VALUE

    loop.do(scene.check([]))
    scene.renew()
    for _ in range(5):
        loop.do(once())


@pytest.mark.req("saf.4")
def test_an_honest_worker_is_believed(stage: tuple[Loop, Scene]) -> None:
    loop, scene = stage

    async def completes() -> None:
        for _ in range(20):
            await scene.check([])
            if scene.results.get("completed"):
                return

    loop.do(completes())
    assert scene.results["completed"]
