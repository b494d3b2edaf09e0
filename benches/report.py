"""Tables, and plots where matplotlib is installed; all of it into `results/`."""

from __future__ import annotations

import json
import platform
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benches.curves import Curve
    from benches.rows import Row

RESULTS = Path(__file__).parent / "results"


def shown(value: float | None) -> str:
    """Three digits are enough."""
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def table(rows: list[tuple[Row, float | str]], peers: dict[str, dict[str, float]]) -> str:
    """The rows as Markdown.

    `ratio` is our figure over the target; up to 1 is met. `drift` is how many times longer the
    peers take than where the targets were set, and `scaled` is the ratio without it.
    """
    names = ["what", "unit", "ours", "target", "ratio", "drift", "scaled", *peers]
    out = [f"| {' | '.join(names)} |", "|" + "---|" * len(names)]
    for row, figure in rows:
        others = [shown(found.get(row.key)) for found in peers.values()]
        verdict = ["-", "-", "-"]
        if isinstance(figure, float | int) and row.target is not None:
            ratio = row.target / figure if row.more_is_better else figure / row.target
            drift = row.drift(peers)
            verdict = [_mark(ratio), shown(drift), "-" if drift is None else _mark(ratio / drift)]
        text = figure if isinstance(figure, str) else shown(figure)
        out.append(
            f"| {' | '.join([row.title, row.unit, text, shown(row.target), *verdict, *others])} |"
        )
    return "\n".join(out)


def _mark(ratio: float) -> str:
    return f"{ratio:.2f}" + ("" if ratio <= 1 else " ✗")


def curve_table(curve: Curve) -> str:
    """A curve as Markdown."""
    out = [f"| {' | '.join(curve.columns)} |", "|" + "---|" * len(curve.columns)]
    out += [f"| {' | '.join(shown(x) for x in line)} |" for line in curve.lines]
    return f"### {curve.title}\n\n" + "\n".join(out)


def write(text: str, data: Any, curves: list[Curve]) -> Path:
    """Writes all that there is; gives the folder."""
    RESULTS.mkdir(exist_ok=True)
    machine = f"{platform.machine()}, CPython {platform.python_version()}, {time.strftime('%F %T')}"
    (RESULTS / "table.md").write_text(f"{machine}\n\n{text}\n", "utf-8")
    (RESULTS / "figures.json").write_text(json.dumps(data, indent=1), "utf-8")
    for curve in curves:
        _plot(curve)
    return RESULTS


def _plot(curve: Curve) -> None:
    try:
        import matplotlib  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        return
    matplotlib.use("Agg")
    from matplotlib import pyplot  # type: ignore[import-not-found, unused-ignore]

    figure, axes = pyplot.subplots()
    for at, name in enumerate(curve.columns[1:], 1):
        axes.plot(
            [line[0] for line in curve.lines], [line[at] for line in curve.lines], "o-", label=name
        )
    axes.set(xscale="log", yscale="log", xlabel=curve.columns[0], title=curve.title)
    axes.grid(visible=True, alpha=0.3)
    axes.legend()
    figure.savefig(RESULTS / f"{curve.title.replace(' ', '_')}.svg")
    pyplot.close(figure)
