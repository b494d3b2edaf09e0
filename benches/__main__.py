"""Every row of the targets, with peers in the same run.

    python -m benches [--quick] [--passes N] [--no-peers] [--no-curves] [row …]

Rows are named by their short names (`--list`). Writes `benches/results/`. A figure is a median; of
several passes, which alternate with the peers, the best one counts: a machine that others share is
slower at times, for minutes, by more than the differences that matter.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from typing import cast

from benches import peers, report
from benches.curves import CURVES
from benches.rows import ROWS, Row


def _measure(row: Row, rounds: int) -> float | str:
    try:
        return asyncio.run(row.measure(rounds))
    except Exception as error:  # noqa: BLE001 -- a row that fails must not hide the others
        print(f"{row.key}: {error!r}"[:1000], file=sys.stderr)
        return f"failed: {type(error).__name__}"


def _better(row: Row, a: float | str | None, b: float | str) -> float | str:
    if a is None or isinstance(b, str) or isinstance(a, str):
        return a if isinstance(a, str) else b
    # Memory that an earlier pass has given back is not counted again.
    most = row.more_is_better or row.unit in ("B", "MB")
    return max(a, b) if most else min(a, b)


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(prog="python -m benches", description=__doc__)
    parser.add_argument("rows", nargs="*", help="short names; all if none is given")
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    parser.add_argument(
        "--passes", type=int, default=1, help="how often, peers in between; the best counts"
    )
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--no-curves", action="store_true")
    parser.add_argument("--list", action="store_true", help="print the short names")
    given = parser.parse_args()
    if given.list:
        print("\n".join(f"{row.key:12} {row.title}" for row in ROWS))
        return
    unknown = set(given.rows) - {row.key for row in ROWS} - set(CURVES)
    if unknown:
        parser.error(f"no such row: {', '.join(sorted(unknown))}; see --list")
    rounds = 10 if given.quick else 40
    chosen = [row for row in ROWS if not given.rows or row.key in given.rows]

    ours: dict[str, float | str] = {}
    others: dict[str, dict[str, float]] = {}
    notes = []
    for number in range(given.passes):
        for row in chosen:
            figure = _measure(row, rounds)
            ours[row.key] = _better(row, ours.get(row.key), figure)
            text = figure if isinstance(figure, str) else f"{report.shown(figure)} {row.unit}"
            print(f"{row.title:58} {text}", flush=True)
        for name in () if given.no_peers or not chosen else peers.NAMES:
            try:
                found = peers.figures(name, rounds)
            except peers.Missing as why:
                if number == 0:
                    notes.append(f"{name} is missing: {why}")
                continue
            kept = others.setdefault(name, {})
            for row in ROWS:
                if row.key in found:
                    kept[row.key] = cast("float", _better(row, kept.get(row.key), found[row.key]))
    figures = [(row, ours[row.key]) for row in chosen]
    curves = []
    for name, make in CURVES.items():
        if given.no_curves or (given.rows and name not in given.rows):
            continue
        try:
            curves.append(asyncio.run(make(rounds)))
        except Exception as error:  # noqa: BLE001 -- as above
            notes.append(f"the curve {name} failed: {error!r}"[:300])
    parts = [report.table(figures, others)] if figures else []
    text = "\n\n".join([*parts, *notes, *map(report.curve_table, curves)])
    print("\n" + text)
    data = {
        "ours": {row.key: figure for row, figure in figures},
        "peers": others,
        "curves": {
            c.title: [dict(zip(c.columns, line, strict=True)) for line in c.lines] for c in curves
        },
    }
    print(f"\nwritten to {report.write(text, data, curves)}")


if __name__ == "__main__":
    main()
