"""Our side of every row. Each measurement asserts its answer before it takes times."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

from benches.programs import SHARED
from benches.timing import median_ms
from codemode import CodeMode, CodeModeRun, Completed, Failed, Tool, Waiting
from codemode.runner import Cell

Measure = Callable[[int], Awaitable[float]]
ROOT = Path(__file__).parent.parent
LIMITS = {"timeoutMs": 30_000, "maxOutputBytes": 10_485_760, "memoryLimitBytes": 512 << 20}
PARK = "const p = tools.get({n: 1}); await yield_control(); return await p"


def get() -> Tool:
    async def execute(given: Any, _: Any) -> Any:
        return given.get("n", 0)

    return Tool(name="get", execute=execute, parameters={"type": "object"})


@contextlib.asynccontextmanager
async def a_run(tools: Any = (), **config: Any) -> AsyncIterator[CodeModeRun]:
    async with CodeMode({"enabled": True, **LIMITS, **config}) as cm:
        await cm.ready()
        yield cm.run(list(tools) or [get()])


async def value_of(run: CodeModeRun, code: str) -> Any:
    result = await run.exec({"code": code})
    assert isinstance(result, Completed), result
    return result.value


def in_a_new_process(code: str, rounds: int) -> float:
    """Median of what `code` prints, milliseconds."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    out = [
        float(
            subprocess.run(
                [sys.executable, "-c", code], env=env, check=True, capture_output=True, text=True
            ).stdout
        )
        for _ in range(rounds)
    ]
    return statistics.median(out) * 1e3


def _importing(before: str, statement: str) -> Measure:
    code = f"import time\n{before}\nt = time.perf_counter(); {statement}; print(time.perf_counter() - t)"

    async def measure(rounds: int) -> float:
        return in_a_new_process(code, rounds)

    return measure


import_cold = _importing("", "import codemode")
import_warm = _importing("import asyncio", "import codemode; codemode.CodeMode, codemode.Tool")
import_used = _importing("", "import codemode; codemode.CodeMode, codemode.Tool")


async def first_exec(rounds: int) -> float:
    return in_a_new_process(
        "import asyncio, time\n"
        "from codemode import CodeMode, Tool\n"
        "async def main():\n"
        "    t = time.perf_counter()\n"
        "    async with CodeMode(True) as cm:\n"
        "        r = await cm.run([Tool(name='t', execute=lambda *_: 1)])"
        ".exec({'code': 'return 1+1'})\n"
        "        assert r.value == 2\n"
        "        print(time.perf_counter() - t)\n"
        "asyncio.run(main())\n",
        rounds,
    )


async def exec_warm(rounds: int) -> float:
    async with a_run() as run:
        assert await value_of(run, "return 1+1") == 2
        return await median_ms(lambda: run.exec({"code": "return 1+1"}), rounds * 20)


async def throughput(rounds: int) -> float:
    async with a_run() as run:
        assert await value_of(run, "return 1+1") == 2
        count = rounds * 60

        async def some(n: int) -> None:
            for _ in range(n):
                assert (await run.exec({"code": "return 1+1"})).status == "completed"

        before = time.perf_counter()
        await asyncio.gather(*(some(count // 4) for _ in range(4)))
        return count / (time.perf_counter() - before)


async def _calls(rounds: int, code: str, answer: Any, calls: int) -> float:
    async with a_run(maxPendingToolCalls=128) as run:
        assert await value_of(run, code) == answer
        empty = await median_ms(lambda: run.exec({"code": "return 1"}), rounds)
        return (await median_ms(lambda: run.exec({"code": code}), rounds) - empty) / calls * 1e3


_ECHO = """
import os, sys
fd = int(sys.argv[1])
while got := os.read(fd, 1):
    os.write(fd, got)
"""


async def hop(rounds: int) -> float:
    """What the system takes of each awaited call at least: two changes of process, seen by a loop."""
    here, there = socket.socketpair()
    here.setblocking(False)
    loop = asyncio.get_running_loop()
    echo = await asyncio.create_subprocess_exec(
        *(sys.executable, "-S", "-c", _ECHO, str(there.fileno())), pass_fds=[there.fileno()]
    )
    there.close()

    async def many() -> None:
        for _ in range(500):
            await loop.sock_sendall(here, b"x")
            assert await loop.sock_recv(here, 1) == b"x"

    await many()
    taken = await median_ms(many, rounds)
    here.close()
    await echo.wait()
    return taken / 500 * 1e3


async def call_sequential(rounds: int) -> float:
    code = "let s = 0; for (let n = 0; n < 500; n++) s += await tools.get({n}); return s"
    return await _calls(rounds, code, sum(range(500)), 500)


async def call_batch(rounds: int) -> float:
    code = (
        "let s = 0; for (let b = 0; b < 50; b++) for (const x of await Promise.all("
        "Array.from({length: 16}, (_, n) => tools.get({n})))) s += x; return s"
    )
    return await _calls(rounds, code, 50 * sum(range(16)), 800)


class Suspensions:
    """Times of the images that are taken while it is entered."""

    def __init__(self) -> None:
        self.times: list[float] = []

    def __enter__(self) -> Suspensions:
        self.original: Any = Cell._take_image
        times, original = self.times, self.original

        async def timed(cell: Cell, live: Any) -> Any:
            before = time.perf_counter()
            try:
                return await original(cell, live)
            finally:
                times.append(time.perf_counter() - before)

        Cell._take_image = timed  # type: ignore[method-assign]
        return self

    def __exit__(self, *_: object) -> None:
        Cell._take_image = self.original  # type: ignore[method-assign]

    @property
    def median_ms(self) -> float:
        return statistics.median(self.times) * 1e3


async def park_and_go(run: CodeModeRun, code: str, answer: Any) -> tuple[int, float, float]:
    """Bytes kept, time of the wait and of the whole cycle (ms)."""
    before = time.perf_counter()
    parked = await run.exec({"code": code})
    assert isinstance(parked, Waiting), parked
    between = time.perf_counter()
    done = await run.wait({"runId": parked.run_id})
    after = time.perf_counter()
    assert isinstance(done, Completed), done
    assert done.value == answer
    return parked.snapshot_bytes, (after - between) * 1e3, (after - before) * 1e3


async def suspension(rounds: int, code: str = PARK, answer: Any = 1) -> dict[str, float]:
    """Bytes, and suspend, restore and cycle in ms."""
    async with a_run(maxSnapshotBytes=64 << 20) as run:
        with Suspensions() as images:
            seen = [await park_and_go(run, code, answer) for _ in range(rounds)]
        return {
            "bytes": statistics.median(s[0] for s in seen),
            "suspend": images.median_ms,
            "restore": statistics.median(s[1] for s in seen),
            "cycle": statistics.median(s[2] for s in seen),
        }


def heap(megabytes: float) -> tuple[str, int]:
    """A program that keeps so much live, in objects, and its answer."""
    count = int(megabytes * 10_000)
    return (
        f"const a = Array.from({{length: {count}}}, (_, i) => ({{i, x: i / 3}}));"
        "await yield_control(); return a.length"
    ), count


async def freed(rounds: int) -> float:
    code = "let a = new Uint8Array(2e7).fill(7); a = null; await yield_control(); return 'on'"
    return (await suspension(max(3, rounds // 5), code, "on"))["bytes"] / 1e6


async def shared(name: str, rounds: int) -> float:
    code, right = SHARED[name]
    code = code.replace("{return}", "return")
    async with a_run() as run:
        assert right(await value_of(run, code))
        return await median_ms(lambda: run.exec({"code": code}), max(3, rounds // 3))


HOSTILE = {
    "loop": "while (true) {}",
    "native": "Array.prototype.concat.call([], {length: 2**53 - 1, [Symbol.isConcatSpreadable]: true})",
    "regex": "/^(a+)+$/.test('a'.repeat(40) + 'b')",
    "microtasks": "const f = () => Promise.resolve().then(f); await f()",
    "thenable": "for (;;) { try { await {then() { for (;;); }}; } catch {} }",
}


async def late(_: int) -> float:
    """The worst answer to a hostile script with 500 ms, milliseconds."""
    worst = 0.0
    async with a_run(timeoutMs=500) as run:
        for code in HOSTILE.values():
            before = time.perf_counter()
            result = await run.exec({"code": code})
            worst = max(worst, time.perf_counter() - before)
            assert isinstance(result, Failed), result
            assert result.code == "timeout", result
    return worst * 1e3


async def after_kill(rounds: int) -> float:
    times = []
    async with a_run(timeoutMs=100) as run:
        for _ in range(max(5, rounds // 3)):
            assert (await run.exec({"code": HOSTILE["native"]})).status == "failed"
            before = time.perf_counter()
            assert await value_of(run, "return 1+1") == 2
            times.append(time.perf_counter() - before)
    return statistics.median(times) * 1e3


async def stall(_: int) -> float:
    late_by: list[float] = []

    async def tick() -> None:
        while True:
            before = time.perf_counter()
            await asyncio.sleep(0.001)
            late_by.append(time.perf_counter() - before - 0.001)

    async with a_run(timeoutMs=1_000) as run:
        ticker = asyncio.create_task(tick())
        result = await run.exec({"code": "while (true) {}"})
        ticker.cancel()
    assert isinstance(result, Failed)
    return statistics.median(late_by) * 1e3


def catalog(count: int) -> list[Tool]:
    words = ("order", "invoice", "port", "ship", "user", "ticket", "repo", "file", "mail", "event")
    verbs = ("list", "get", "create", "delete", "update", "search", "close", "open", "send", "sync")
    return [
        Tool(
            name=f"{verbs[i % 10]}_{words[i // 10 % 10]}_{i}",
            description=f"{verbs[i % 10].title()} one {words[i // 10 % 10]} of account {i}.",
            parameters={
                "type": "object",
                "properties": {"id": {"type": "string"}, "limit": {"type": "integer"}},
                "required": ["id"],
            },
            execute=lambda *_: None,
        )
        for i in range(count)
    ]


async def build(count: int, rounds: int, *, unchanged: bool) -> float:
    """A run of so many tools and the text of exec, milliseconds."""
    tools = catalog(count)
    times = []
    for _ in range(max(3, rounds // 5)):
        async with CodeMode(True) as cm:
            if unchanged:
                cm.run(tools).model_tools  # noqa: B018
            else:
                tools = catalog(count)
            before = time.perf_counter()
            text = cm.run(tools).model_tools[0].description
            times.append(time.perf_counter() - before)
            assert "close_" in text
    return statistics.median(times) * 1e3


async def search(count: int, rounds: int) -> float:
    async with CodeMode(True) as cm:
        view = cm.run(catalog(count)).catalog
        assert "invoice" in view.search("list invoice", 8)[0]["name"]

        async def one() -> None:
            view.search("list invoice account", 8)

        return await median_ms(one, rounds * 10)


async def exec_with_catalog(count: int, rounds: int) -> float:
    async with a_run(catalog(count)) as run:
        return await median_ms(lambda: run.exec({"code": "return 1+1"}), rounds * 5)


async def cells(count: int) -> float:
    """Memory of the host for so many suspended cells, which are then all resumed; MB."""
    limits = {"maxSuspendedCells": count, "snapshotTtlSeconds": 3600}
    async with a_run(**limits) as run:
        code = "const n = {n}; const p = tools.get({n}); await yield_control(); return n + await p"
        await park_and_go(run, code.replace("{n}", "7", 1), 14)
        before = resident_mb()
        ids: dict[str, int] = {}

        async def park(numbers: Any) -> None:
            for n in numbers:
                result = await run.exec({"code": code.replace("{n}", str(n), 1)})
                assert isinstance(result, Waiting), result
                ids[result.run_id] = n

        numbers = iter(range(count))
        await asyncio.gather(*(park(numbers) for _ in range(8)))
        used = resident_mb() - before
        left = iter(list(ids.items()))

        async def finish() -> None:
            for run_id, n in left:
                result = await run.wait({"runId": run_id})
                assert isinstance(result, Completed), result
                assert result.value == 2 * n

        await asyncio.gather(*(finish() for _ in range(8)))
        return used


def resident_mb() -> float:
    """Resident size of this process, MB."""
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


async def wheel(_: int) -> float:
    """Size of the newest wheel in dist/, or of what goes into one, compressed; MB."""
    import zlib

    built = sorted(ROOT.glob("dist/*.whl"), key=lambda p: p.stat().st_mtime)
    if built:
        return built[-1].stat().st_size / 1e6
    inside = [
        p for p in (ROOT / "python" / "codemode").rglob("*") if p.is_file() and p.suffix != ".pyc"
    ]
    assert any(p.name == "codemode-worker" for p in inside)
    return sum(len(zlib.compress(p.read_bytes())) for p in inside) / 1e6


def dump(value: Any) -> str:
    """Compact JSON."""
    return json.dumps(value, separators=(",", ":"))
