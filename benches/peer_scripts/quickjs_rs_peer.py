"""quickjs-rs: QuickJS in wasmtime inside the host's process."""

import asyncio
import time

from benches.programs import SHARED
from common import attempt, fresh, importing, median_ms, median_ms_async, report
from quickjs_rs import Runtime

found: dict[str, float] = {}


def once(code: str):
    with Runtime() as runtime, runtime.new_context() as context:
        return context.eval(code)


def timed(code: str, right) -> float:
    code = "(() => {" + code.replace("{return}", "return") + "})()"
    before = time.perf_counter()
    assert right(once(code))
    first = time.perf_counter() - before
    if first > 2:
        return first * 1e3
    return median_ms(lambda: once(code), 3)


async def call() -> float:
    with Runtime() as runtime, runtime.new_context() as context:

        @context.function
        async def get(n: int) -> int:
            return n

        code = "let s = 0; for (let n = 0; n < 100; n++) s += await get(n); s"
        assert (
            await context.eval_async(
                f"await (async () => {{ {code.replace('; s', '; return s')} }})()"
            )
            == 4950
        )

        async def work():
            await context.eval_async(
                "await (async () => { let s = 0; for (let n = 0; n < 100; n++) s += await get(n); return s })()"
            )

        return await median_ms_async(work, 5) / 100 * 1e3


attempt(found, "import_used", lambda: importing("import quickjs_rs"))
attempt(
    found,
    "first_exec",
    lambda: fresh(
        "import quickjs_rs, time; t = time.perf_counter()\n"
        "with quickjs_rs.Runtime() as r, r.new_context() as c: assert c.eval('1+1') == 2\n"
        "print(time.perf_counter() - t)"
    ),
)
attempt(found, "exec", lambda: median_ms(lambda: once("1 + 1"), 5))
attempt(found, "throughput", lambda: 1000 / median_ms(lambda: once("1 + 1"), 5))
attempt(found, "call", lambda: asyncio.run(call()))
for name, (program, right) in SHARED.items():
    attempt(found, name, lambda c=program, r=right: timed(c, r))
report(found)
