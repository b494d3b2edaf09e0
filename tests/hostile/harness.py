"""Runs many hostile programs at once and watches what they do to the host."""

from __future__ import annotations

import asyncio
import contextlib
import time
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codemode import CodeMode, Completed, Result, Tool
from codemode.engine import Pool

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable

    from .corpus.model import Program

_AT_ONCE = 8
_SAMPLE_S = 0.02
# A program that has given no answer so long after its deadline hangs its caller.
HANG_S = 10.0
PROBE = "return [...'abc'].map(c => c.toUpperCase()).join('') + [3, 1, 2].sort() + (0.1 + 0.2)"
PROBE_VALUE = "ABC1,2,30.30000000000000004"

_current: ContextVar[Seen | None] = ContextVar("_current", default=None)


@dataclass(slots=True)
class Seen:
    """What a program did.

    Attributes:
        result: Its result, or None if it hung.
        seconds: Until the answer.
        peak: Largest resident size of a worker of it that was seen, bytes.
        next_value: What the next exec gave.
        workers: Its workers.
    """

    result: Result | None = None
    seconds: float = 0.0
    peak: int = 0
    next_value: Any = None
    workers: list[Any] = field(default_factory=list)


@dataclass(slots=True)
class Batch:
    """All of them.

    Attributes:
        seen: By name of the program.
        stalls: By how many seconds each tick of the loop was late, sorted.
        host_growth: By how much the host's resident size grew, bytes.
    """

    seen: dict[str, Seen] = field(default_factory=dict)
    stalls: list[float] = field(default_factory=list)
    host_growth: int = 0


def resident(pid: int | str = "self", row: str = "VmRSS") -> int:
    """Resident size of a process in bytes; 0 if it is gone."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text("ascii").splitlines():
            if line.startswith(row + ":"):
                return int(line.split()[1]) * 1024
    return 0


def children(pid: int) -> list[int]:
    """Living children of a process."""
    found = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(OSError):
            found += [int(child) for child in (task / "children").read_text("ascii").split()]
    return found


def nothing() -> Tool:
    """A tool, because a run without tools is no code mode run."""
    return Tool(name="nothing", execute=lambda *_: None)


@contextlib.asynccontextmanager
async def ticking(stalls: list[float], period: float = 0.001) -> AsyncIterator[None]:
    """Notes by how much the loop's ticks are late, seconds."""

    async def tick() -> None:
        while True:
            before = time.perf_counter()
            await asyncio.sleep(period)
            stalls.append(time.perf_counter() - before - period)

    ticker = asyncio.create_task(tick())
    try:
        yield
    finally:
        ticker.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await ticker
        stalls.sort()


@contextlib.contextmanager
def _watched(patched: Any = Pool) -> Any:
    """Tells each program which workers it got."""
    take = patched.take

    async def watching(self: Pool, owner: object, **kwargs: Any) -> Any:
        live = await take(self, owner, **kwargs)
        seen = _current.get()
        if seen is not None:
            seen.workers.append(live._worker)
        return live

    patched.take = watching
    try:
        yield
    finally:
        patched.take = take


async def _sample(batch: Batch) -> None:
    while True:
        for seen in batch.seen.values():
            if seen.result is None and seen.workers and seen.workers[-1].pid:
                seen.peak = max(seen.peak, resident(seen.workers[-1].pid, "VmHWM"))
        await asyncio.sleep(_SAMPLE_S)


async def _one(cm: CodeMode, program: Program, seen: Seen) -> None:
    _current.set(seen)
    config = {"timeoutMs": program.timeout_ms, "memoryLimitBytes": program.memory}
    run = cm.run([nothing()], config=config)
    asked = {"code": program.code, "language": program.language}
    before = time.monotonic()
    with contextlib.suppress(asyncio.TimeoutError):
        seen.result = await asyncio.wait_for(run.exec(asked), program.timeout_ms / 1000 + HANG_S)
    seen.seconds = time.monotonic() - before
    _current.set(None)
    try:
        probe = cm.run([nothing()]).exec({"code": PROBE})
        then = await asyncio.wait_for(probe, 10 + HANG_S)
        seen.next_value = then.value if isinstance(then, Completed) else then
        await asyncio.wait_for(run.close(), HANG_S)
    except asyncio.TimeoutError:
        seen.next_value = "the next exec, or the end of the run, hangs"


async def run_all(programs: Iterable[Program], batch: Batch) -> Batch:
    """Runs programs, eight at a time."""
    slots = asyncio.Semaphore(_AT_ONCE)
    async with CodeMode(True) as cm:
        await cm.ready()
        await cm.run([nothing()]).exec({"code": PROBE})
        before = resident()

        async def one(program: Program) -> None:
            async with slots:
                await _one(cm, program, batch.seen.setdefault(program.name, Seen()))

        with _watched():
            async with ticking(batch.stalls):
                sampler = asyncio.create_task(_sample(batch))
                await asyncio.gather(*(one(program) for program in programs))
                sampler.cancel()
        batch.host_growth = resident() - before
    return batch
