"""The rows of the table: what is measured, in which unit, and what it should be."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from benches import ours

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benches.ours import Measure


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row.

    Attributes:
        key: Short name; peers give their figures under it.
        title: What it is.
        unit: Unit of all figures.
        target: What it should not exceed (or reach, if more is better); None: only told.
        measure: Our figure.
        more_is_better: For rates.
        then: Figures of peers on the machine where the targets were set, same unit.
    """

    key: str
    title: str
    unit: str
    target: float | None
    measure: Measure
    more_is_better: bool = False
    then: Mapping[str, float] = field(default_factory=dict)

    def drift(self, now: Mapping[str, Mapping[str, float]]) -> float | None:
        """How many times longer the same peers take here and now than there and then.

        Args:
            now: Figures by peer and row.

        Returns:
            The geometric mean over the peers that have both figures; None if none has.
        """
        # Peers have one way of being imported.
        key = "import_used" if self.key.startswith("import") else self.key
        logs = [
            math.log(now[peer][key] / then) * (-1 if self.more_is_better else 1)
            for peer, then in self.then.items()
            if key in now.get(peer, {})
        ]
        return math.exp(statistics.fmean(logs)) if logs else None


def _suspension(key: str, code: str = ours.PARK, answer: object = 1) -> Measure:
    async def measure(rounds: int) -> float:
        return (await ours.suspension(rounds, code, answer))[key]

    return measure


def _shared(name: str) -> Measure:
    return lambda rounds: ours.shared(name, rounds)


async def _more_with_catalog(rounds: int) -> float:
    small = await ours.exec_with_catalog(10, rounds)
    return await ours.exec_with_catalog(5_000, rounds) - small


_HEAP = ours.heap(5)

# As the targets name them.
_IMPORTS = {"pydantic-monty": 52, "jsbox": 39}
_THEN: Mapping[str, Mapping[str, float]] = {
    "import": _IMPORTS,
    "import_used": _IMPORTS,
    "import_warm": _IMPORTS,
    "first_exec": {"quickjs-wasi": 5, "pydantic-monty": 3.6},
    "exec": {"modebox": 0.39, "pydantic-monty": 0.22},
    "throughput": {"modebox": 2162, "quickjs-wasi": 970},
    "call": {"pydantic-monty": 92, "modebox": 152, "run": 276},
    "suspend": {"quickjs-wasi": 1.3, "modebox": 4.35},
    "restore": {"modebox": 1.0, "quickjs-wasi": 1.4},
    "cycle": {"quickjs-wasi": 3.9, "modebox": 5.4},
    "suspend_5mb": {"quickjs-wasi": 3.9},
    "restore_5mb": {"quickjs-wasi": 4.3},
    "fib": {"jsbox": 23, "quickjs-wasi": 38},
    "json": {"jsbox": 36, "quickjs-wasi": 148},
    "string_mb": {"modebox": 20, "run": 869},
    "rows": {"modebox": 171, "run": 966},
    "after_kill": {"run": 207, "pydantic-monty": 2.3},
}

ROWS: tuple[Row, ...] = tuple(
    Row(
        key=key,
        title=title,
        unit=unit,
        target=target,
        measure=measure,
        more_is_better=key == "throughput",
        then=_THEN.get(key, {}),
    )
    for key, title, unit, target, measure in (
        ("import", "import codemode", "ms", 40, ours.import_cold),
        ("import_used", "import codemode and its main names", "ms", None, ours.import_used),
        (
            "import_warm",
            "import codemode and its main names, asyncio already loaded",
            "ms",
            15,
            ours.import_warm,
        ),
        (
            "first_exec",
            "first exec after import, start of processes included",
            "ms",
            10,
            ours.first_exec,
        ),
        ("exec", "exec `return 1+1`, warm", "ms", 0.35, ours.exec_warm),
        ("throughput", "exec throughput", "1/s", 2500, ours.throughput),
        ("hop", "a byte to another process and back, for comparison", "µs", None, ours.hop),
        ("call", "awaited tool call, one after the other", "µs", 60, ours.call_sequential),
        ("call_batch", "awaited tool call, each in batches of 16", "µs", 25, ours.call_batch),
        ("bytes", "small cell suspended: bytes kept", "B", 9000, _suspension("bytes")),
        ("suspend", "suspend", "ms", 0.6, _suspension("suspend")),
        ("restore", "restore and finish", "ms", 0.8, _suspension("restore")),
        ("cycle", "exec, waiting, wait, completed", "ms", 2, _suspension("cycle")),
        ("suspend_5mb", "5 MB of live objects: suspend", "ms", 5, _suspension("suspend", *_HEAP)),
        (
            "restore_5mb",
            "5 MB of live objects: restore and finish",
            "ms",
            5,
            _suspension("restore", *_HEAP),
        ),
        (
            "bytes_5mb",
            "5 MB of live objects: bytes kept",
            "B",
            5_500_000,
            _suspension("bytes", *_HEAP),
        ),
        ("freed", "20 MB at the peak, all freed: kept", "MB", 0.5, ours.freed),
        (
            "cells",
            "10,000 suspended cells: memory of the host",
            "MB",
            200,
            lambda _: ours.cells(10_000),
        ),
        ("fib", "fib(27)", "ms", 25, _shared("fib")),
        ("json", "1 MB of JSON built, written and parsed", "ms", 40, _shared("json")),
        ("string_mb", "1 MB string, guest to host", "ms", 5, _shared("string_mb")),
        ("rows", "10,000 rows, guest to host", "ms", 25, _shared("rows")),
        ("late", "answer of the worst hostile script, timeoutMs 500", "ms", 550, ours.late),
        ("after_kill", "next exec after a kill", "ms", 1, ours.after_kill),
        ("stall", "stall of the host's loop while the guest spins", "ms", 2, ours.stall),
        (
            "build",
            "catalog of 1,000 tools and description, new",
            "ms",
            15,
            lambda rounds: ours.build(1_000, rounds, unchanged=False),
        ),
        (
            "build_same",
            "catalog of 1,000 tools and description, unchanged",
            "ms",
            1,
            lambda rounds: ours.build(1_000, rounds, unchanged=True),
        ),
        (
            "search_1k",
            "search over 1,000 tools",
            "ms",
            0.1,
            lambda rounds: ours.search(1_000, rounds),
        ),
        (
            "search_10k",
            "search over 10,000 tools",
            "ms",
            0.5,
            lambda rounds: ours.search(10_000, rounds),
        ),
        ("exec_5k", "exec with 5,000 tools, more than with 10", "ms", 1, _more_with_catalog),
        ("wheel", "size of the wheel", "MB", 6, ours.wheel),
    )
)
