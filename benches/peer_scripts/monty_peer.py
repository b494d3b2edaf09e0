"""pydantic-monty: a Python subset, in processes of its own; what of it can be compared."""

import asyncio
import time

from common import ROUNDS, attempt, fresh, importing, median_ms_async, report
from pydantic_monty import AsyncMonty

FIB = "def fib(n):\n    return n if n < 2 else fib(n - 1) + fib(n - 2)\nfib(27)"
found: dict[str, float] = {}


async def get(n: int) -> int:
    return n


async def main() -> None:
    async with AsyncMonty() as pool:

        async def once(code: str, **more):
            async with pool.checkout() as session:
                return await session.feed_run(code, **more)

        async def figure(name: str, code: str, right, calls: int = 0, **more) -> None:
            try:
                assert await once(code, **more) == right
                empty = await median_ms_async(lambda: once("1 + 1")) if calls else 0
                whole = await median_ms_async(lambda: once(code, **more), max(3, ROUNDS // 3))
                found[name] = (whole - empty) / calls * 1e3 if calls else whole
            except Exception as error:  # noqa: BLE001 -- it has no figure then
                print(name, repr(error)[:200], flush=True)

        await figure("exec", "1 + 1", 2)
        before = time.perf_counter()
        for _ in range(ROUNDS * 20):
            await once("1 + 1")
        found["throughput"] = ROUNDS * 20 / (time.perf_counter() - before)
        await figure(
            "call",
            "s = 0\nfor n in range(500):\n    s += await get(n)\ns",
            124750,
            500,
            external_lookup={"get": get},
        )
        await figure("fib", FIB, 196418)
        await figure("string_mb", "'abcdefgh' * 131072", "abcdefgh" * 131072)


attempt(found, "import_used", lambda: importing("import pydantic_monty"))
attempt(
    found,
    "first_exec",
    lambda: fresh(
        "import pydantic_monty, time; t = time.perf_counter()\n"
        "with pydantic_monty.Monty() as p, p.checkout() as s: assert s.feed_run('1+1') == 2\n"
        "print(time.perf_counter() - t)"
    ),
)
asyncio.run(main())
report(found)
