"""modebox: QuickJS in WebAssembly inside the host's process."""

import asyncio
import time

import modebox
from benches.programs import SHARED
from common import ROUNDS, attempt, fresh, importing, median_ms_async, report

LIMITS = modebox.Limits(
    timeout_ms=30_000,
    memory_limit_bytes=256 << 20,
    max_value_bytes=32 << 20,
    max_host_calls=100_000,
)
loop = asyncio.new_event_loop()
runner = modebox.Runner(limits=LIMITS)


async def get(n: int) -> int:
    return n


@modebox.require_approval
async def ask(n: int) -> int:
    return n


HOST = {"t": {"get": get, "ask": ask}}


async def value(code: str):
    return (await runner.run(code, host_functions=HOST)).value


def timed(code: str, right, calls: int = 0) -> float:
    async def work():
        empty = await median_ms_async(lambda: value("1 + 1")) if calls else 0
        assert right(await value(code))
        whole = await median_ms_async(lambda: value(code), max(3, ROUNDS // 3))
        return (whole - empty) / calls * 1e3 if calls else whole

    return loop.run_until_complete(work())


def throughput() -> float:
    async def work():
        count = ROUNDS * 20
        before = time.perf_counter()
        for _ in range(count):
            await value("1 + 1")
        return count / (time.perf_counter() - before)

    return loop.run_until_complete(work())


async def suspend():
    return await runner.run("const x = await t.ask(1); x", host_functions=HOST)


async def resume(parked):
    done = await runner.run(
        host_functions=HOST,
        continuation=parked.continuation,
        resolutions=[modebox.approve(parked.interruptions[0].id)],
    )
    assert done.value == 1


async def cycle():
    await resume(await suspend())


def restore() -> float:
    async def work():
        parked = await suspend()
        times = []
        for _ in range(ROUNDS):
            parked = await suspend()
            before = time.perf_counter()
            await resume(parked)
            times.append(time.perf_counter() - before)
        return sorted(times)[len(times) // 2] * 1e3

    return loop.run_until_complete(work())


found: dict[str, float] = {}
attempt(found, "import_used", lambda: importing("import modebox"))
attempt(
    found,
    "first_exec",
    lambda: fresh(
        "import asyncio, modebox, time; t = time.perf_counter();"
        "r = asyncio.run(modebox.Runner().run('1 + 1')); assert r.value == 2;"
        "print(time.perf_counter() - t)"
    ),
)
attempt(found, "exec", lambda: timed("1 + 1", lambda v: v == 2))
attempt(found, "throughput", throughput)
attempt(
    found,
    "call",
    lambda: timed(
        "let s = 0; for (let n = 0; n < 500; n++) s += await t.get(n); s",
        lambda v: v == 124750,
        500,
    ),
)
attempt(found, "bytes", lambda: len(loop.run_until_complete(suspend()).continuation))
attempt(found, "restore", restore)
attempt(found, "cycle", lambda: loop.run_until_complete(median_ms_async(cycle)))
for name, (code, right) in SHARED.items():
    attempt(found, name, lambda c=code, r=right: timed(c.replace("{return}", ""), r))
report(found)
