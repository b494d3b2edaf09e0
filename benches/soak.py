"""Mixed load for a while: exec, suspend, wait, abort, kill.

    python -m benches.soak [--seconds 1800] [--at-once 8]

Every cell has a known answer. Prints, per tenth of the time, what was done and how large the host
was; fails if an answer is wrong or missing, or if processes, descriptors or memory are left.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import random
import signal
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benches.ours import resident_mb
from codemode import CodeMode, CodeModeRun, Completed, Failed, Result, Tool, Waiting
from codemode.store import STORE


@dataclass(slots=True)
class Soak:
    """What has happened.

    Attributes:
        done: Cells by kind.
        wrong: Answers that were not the expected ones, at most 20.
        rates: Cells per second in each tenth.
        sizes: Resident size of the host at the end of each tenth, MB.
        left: What was not given back at the end.
    """

    done: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    rates: list[float] = field(default_factory=list)
    sizes: list[float] = field(default_factory=list)
    left: list[str] = field(default_factory=list)

    @property
    def cells(self) -> int:
        """All of them."""
        return sum(self.done.values())


def _descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def _children() -> set[str]:
    found: set[str] = set()
    for task in Path("/proc/self/task").iterdir():
        found.update((task / "children").read_text("ascii").split())
    return found


class _Load:
    def __init__(self, cm: CodeMode, run: CodeModeRun, soak: Soak, chance: random.Random) -> None:
        self.cm = cm
        self.run = run
        self.soak = soak
        self.chance = chance

    async def one(self) -> None:
        kinds = ("exec", "calls", "suspend", "wait_twice", "loop", "memory", "abort", "kill")
        kind = self.chance.choices(kinds, (30, 20, 20, 10, 2, 2, 10, 2))[0]
        problem = await getattr(self, kind)(self.chance.randrange(1_000_000))
        self.soak.done[kind] += 1
        if problem is not None and len(self.soak.wrong) < 20:
            self.soak.wrong.append(f"{kind}: {problem!r}"[:600])

    async def _whole(self, code: str) -> Result:
        result = await self.run.exec({"code": code})
        while isinstance(result, Waiting):
            result = await self.run.wait({"runId": result.run_id})
        return result

    async def _gives(self, code: str, value: Any) -> Result | None:
        result = await self._whole(code)
        return None if isinstance(result, Completed) and result.value == value else result

    async def exec(self, n: int) -> Result | None:
        return await self._gives(f"return [{n}, 'x'.repeat(10)]", [n, "x" * 10])

    async def calls(self, n: int) -> Result | None:
        return await self._gives(
            f"const a = await Promise.all([1, 2, 3, 4].map(i => tools.get({{n: {n} + i}})));"
            "return a.reduce((x, y) => x + y, 0)",
            4 * n + 10,
        )

    async def suspend(self, n: int) -> Result | None:
        return await self._gives(
            f"const m = new Map([[{n}, 'kept']]); const p = tools.slow({{n: {n}}});"
            f"await yield_control(); return [await p, m.get({n})]",
            [n, "kept"],
        )

    async def wait_twice(self, n: int) -> Result | None:
        return await self._gives(
            f"let n = {n}; for (let i = 0; i < 2; i++) {{ await yield_control(); n += i + 1; }}"
            "return n",
            n + 3,
        )

    async def loop(self, _: int) -> Result | None:
        result = await self.run.exec({"code": "for (;;);"})
        return None if isinstance(result, Failed) and result.limit == "time" else result

    async def memory(self, _: int) -> Result | None:
        result = await self.run.exec({"code": "const a = []; for (;;) a.push([...a])"})
        right = isinstance(result, Failed) and result.limit in ("memory", "time")
        return None if right else result

    async def abort(self, n: int) -> Result | None:
        task = asyncio.create_task(self._whole(f"await tools.slow({{n: {n}}}); return 1"))
        await asyncio.sleep(self.chance.random() * 0.01)
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            result = await task
            return None if isinstance(result, Completed) else result
        return None

    async def kill(self, _: int) -> Result | None:
        """A worker that is killed in the middle of a loop."""
        run = self.cm.run([_get()])
        task = asyncio.create_task(run.exec({"code": "for (;;);"}))
        for _ in range(100):
            await asyncio.sleep(0.005)
            live = next((cell._live for cell in run._cells), None)
            if live is not None and live._worker.pid:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(live._worker.pid, signal.SIGKILL)
                break
        result = await task
        await run.close()
        right = isinstance(result, Failed) and result.code in ("runtime_unavailable", "timeout")
        return None if right else result


def _get() -> Tool:
    async def execute(given: Any, _: Any) -> Any:
        return given["n"]

    return Tool(name="get", execute=execute)


def _slow(chance: random.Random) -> Tool:
    async def execute(given: Any, _: Any) -> Any:
        await asyncio.sleep(chance.random() * 0.02)
        return given["n"]

    return Tool(name="slow", execute=execute)


async def soak(seconds: float, at_once: int = 8, seed: int = 1) -> Soak:
    """Runs the load for so long.

    Args:
        seconds: How long.
        at_once: Cells at once.
        seed: Of the choices.
    """
    result = Soak()
    chance = random.Random(seed)
    limits = {"timeoutMs": 2_000, "memoryLimitBytes": 16 << 20}
    processes = _children()
    async with CodeMode({"enabled": True, **limits}) as cm:
        await cm.ready()
        run = cm.run([_get(), _slow(chance)])
        load = _Load(cm, run, result, chance)
        for _ in range(20):
            await load.one()
        begun = time.monotonic()

        async def client() -> None:
            while time.monotonic() < begun + seconds:
                await load.one()

        async def clerk() -> None:
            last = result.cells
            for tenth in range(1, 11):
                await asyncio.sleep(max(0.0, begun + seconds * tenth / 10 - time.monotonic()))
                result.rates.append((result.cells - last) / (seconds / 10))
                last = result.cells
                result.sizes.append(resident_mb())

        descriptors = _descriptors()
        # No test of an outcome depends on how long this takes.
        await asyncio.gather(clerk(), *(client() for _ in range(at_once)))
        if run._cells or len(STORE):
            result.left.append(f"{len(run._cells)} cells, {len(STORE)} slots")
        if _descriptors() > descriptors + 4:
            result.left.append(f"{_descriptors() - descriptors} descriptors")
        if run._tasks:
            result.left.append(f"{len(run._tasks)} tools")
    for _ in range(200):
        if _children() <= processes:
            break
        await asyncio.sleep(0.01)
    else:
        result.left.append(f"processes {_children() - processes}")
    return result


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(prog="python -m benches.soak", description=__doc__)
    parser.add_argument("--seconds", type=float, default=1800)
    parser.add_argument("--at-once", type=int, default=8)
    given = parser.parse_args()
    seen = asyncio.run(soak(given.seconds, given.at_once))
    print("cells/s   " + " ".join(f"{x:7.0f}" for x in seen.rates))
    print("host MB   " + " ".join(f"{x:7.1f}" for x in seen.sizes))
    print(f"{seen.cells} cells: " + ", ".join(f"{n} {kind}" for kind, n in seen.done.items()))
    for problem in (*seen.wrong, *(f"left behind: {what}" for what in seen.left)):
        print(problem)
    if seen.wrong or seen.left or seen.sizes[-1] > seen.sizes[0] + 64:
        sys.exit(1)


if __name__ == "__main__":
    main()
