"""How figures grow: heap, catalog, concurrency. Each gives a title, columns and lines."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass

from benches import ours
from benches.timing import quantile


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """One curve."""

    title: str
    columns: tuple[str, ...]
    lines: tuple[tuple[float, ...], ...]


async def heap(rounds: int) -> Curve:
    """Live heap against suspend and restore."""
    lines: list[tuple[float, ...]] = []
    for megabytes in (0.1, 0.5, 1, 2, 5, 10, 20):
        seen = await ours.suspension(max(3, rounds // 5), *ours.heap(megabytes))
        lines.append((megabytes, seen["suspend"], seen["restore"], seen["bytes"] / 1e3))
    return Curve(
        title="live heap",
        columns=("MB live", "suspend ms", "restore ms", "kB kept"),
        lines=tuple(lines),
    )


async def catalog(rounds: int) -> Curve:
    """Number of tools against building, searching and starting a cell."""
    lines: list[tuple[float, ...]] = []
    for count in (10, 100, 1_000, 5_000, 10_000):
        lines.append(
            (
                count,
                await ours.build(count, rounds, unchanged=False),
                await ours.build(count, rounds, unchanged=True),
                await ours.search(max(count, 100), rounds),
                await ours.exec_with_catalog(count, max(1, rounds // 5)),
            )
        )
    return Curve(
        title="catalog",
        columns=("tools", "build ms", "unchanged ms", "search ms", "exec ms"),
        lines=tuple(lines),
    )


async def concurrency(rounds: int) -> Curve:
    """Cells at once against throughput and latency."""
    lines = []
    for at_once in (1, 2, 4, 8, 16, 32):
        async with ours.a_run() as run:
            times: list[float] = []

            async def some(count: int) -> None:
                for _ in range(count):
                    before = time.perf_counter()
                    assert (await run.exec({"code": "return 1+1"})).status == "completed"
                    times.append((time.perf_counter() - before) * 1e3)  # noqa: B023

            total = max(at_once, rounds * 20)
            begun = time.perf_counter()
            await asyncio.gather(*(some(total // at_once) for _ in range(at_once)))
            rate = len(times) / (time.perf_counter() - begun)
            times.sort()
            lines.append((at_once, rate, quantile(times, 0.5), quantile(times, 0.99)))
    return Curve(
        title="concurrency",
        columns=("cells at once", "exec/s", "p50 ms", "p99 ms"),
        lines=tuple(lines),
    )


CURVES = {"heap": heap, "catalog": catalog, "concurrency": concurrency}
