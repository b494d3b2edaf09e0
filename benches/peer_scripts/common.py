"""What the peers' scripts share. Runs in their environments: standard library only."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from typing import Any

ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 15


def median_ms(work: Any, rounds: int = ROUNDS) -> float:
    """Median time in milliseconds after one run that does not count."""
    work()
    times = []
    for _ in range(rounds):
        before = time.perf_counter()
        work()
        times.append(time.perf_counter() - before)
    return statistics.median(times) * 1e3


async def median_ms_async(work: Any, rounds: int = ROUNDS) -> float:
    """The same for a coroutine function."""
    await work()
    times = []
    for _ in range(rounds):
        before = time.perf_counter()
        await work()
        times.append(time.perf_counter() - before)
    return statistics.median(times) * 1e3


def fresh(code: str) -> float:
    """Median of what `code` prints (seconds) in new processes, in milliseconds."""
    out = [
        float(
            subprocess.run(
                [sys.executable, "-c", code], check=True, capture_output=True, text=True
            ).stdout
        )
        for _ in range(max(3, ROUNDS // 3))
    ]
    return statistics.median(out) * 1e3


def importing(statement: str) -> float:
    """How long an import takes, milliseconds."""
    return fresh(
        f"import time; t = time.perf_counter(); {statement}; print(time.perf_counter() - t)"
    )


def attempt(found: dict[str, float], name: str, measure: Any) -> None:
    """Notes a figure; a peer that cannot do it has none."""
    try:
        found[name] = measure()
    except Exception as error:  # noqa: BLE001 -- whatever it is
        print(f"{name}: {error!r}"[:300], file=sys.stderr)


def report(found: dict[str, float]) -> None:
    """Prints the figures for the caller."""
    print(json.dumps(found))
