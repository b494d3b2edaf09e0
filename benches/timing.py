"""Medians."""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable


async def median_ms(work: Callable[[], Awaitable[Any]], rounds: int) -> float:
    """Median time of `work` in milliseconds, after one run that does not count."""
    await work()
    times = []
    for _ in range(rounds):
        before = time.perf_counter()
        await work()
        times.append(time.perf_counter() - before)
    return statistics.median(times) * 1e3


def quantile(values: list[float], share: float) -> float:
    """A quantile of sorted values."""
    return values[min(len(values) - 1, int(len(values) * share))]
