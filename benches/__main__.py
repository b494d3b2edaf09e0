"""Every row of the targets, with peers in the same run.

    python -m benches [--quick] [--no-peers] [--no-curves] [row …]

Rows are named by their short names (`--list`). Writes `benches/results/`.
"""

from __future__ import annotations

import argparse
import asyncio
import sys

from benches import peers, report
from benches.curves import CURVES
from benches.rows import ROWS


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(prog="python -m benches", description=__doc__)
    parser.add_argument("rows", nargs="*", help="short names; all if none is given")
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
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

    figures = []
    for row in chosen:
        try:
            figure: float | str = asyncio.run(row.measure(rounds))
        except Exception as error:  # noqa: BLE001 -- a row that fails must not hide the others
            figure = f"failed: {type(error).__name__}"
            print(f"{row.key}: {error!r}"[:1000], file=sys.stderr)
        figures.append((row, figure))
        now = figure if isinstance(figure, str) else f"{report.shown(figure)} {row.unit}"
        print(f"{row.title:58} {now}", flush=True)

    others: dict[str, dict[str, float]] = {}
    notes = []
    for name in () if given.no_peers or not chosen else peers.NAMES:
        try:
            others[name] = peers.figures(name, rounds)
        except peers.Missing as why:
            notes.append(f"{name} is missing: {why}")
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
