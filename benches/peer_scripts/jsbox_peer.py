"""jsbox: QuickJS natively inside the host's process."""

from benches.programs import SHARED
from common import attempt, fresh, importing, median_ms, report
from jsbox import Runtime

found: dict[str, float] = {}


def once(code: str):
    return Runtime(memory_limit=256 << 20).eval(code)


def timed(code: str, right) -> float:
    # In a function of its own, so that it may be evaluated again.
    code = "(() => {" + code.replace("{return}", "return") + "})()"
    assert right(once(code))
    return median_ms(lambda: once(code), 5)


def call() -> float:
    runtime = Runtime()
    runtime.bind_function("get", lambda n: n)
    code = (
        "(async () => { let s = 0; for (let n = 0; n < 500; n++) s += await get(n); return s })()"
    )
    assert runtime.eval(code) == 124750
    return median_ms(lambda: runtime.eval(code)) / 500 * 1e3


attempt(found, "import_used", lambda: importing("import jsbox"))
attempt(
    found,
    "first_exec",
    lambda: fresh(
        "import jsbox, time; t = time.perf_counter(); assert jsbox.Runtime().eval('1+1') == 2;"
        "print(time.perf_counter() - t)"
    ),
)
attempt(found, "exec", lambda: median_ms(lambda: once("1 + 1")))
attempt(found, "throughput", lambda: 1000 / median_ms(lambda: once("1 + 1")))
attempt(found, "call", call)
for name, (program, right) in SHARED.items():
    attempt(found, name, lambda c=program, r=right: timed(c, r))
report(found)
