"""`codemode doctor`: whether cells can run here, and what confines them."""

from __future__ import annotations

import asyncio
import json
import platform
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import argparse

SUMMARY = "Check the installation: engine, confinement, model table."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    parser.add_argument("--model", help="say why this provider/model engages or not")


def run(arguments: argparse.Namespace) -> int:
    """Prints what it finds."""
    findings = asyncio.run(_findings(arguments.model))
    healthy = not findings["problems"]
    if arguments.json:
        sys.stdout.write(json.dumps(findings, indent=2) + "\n")
        return 0 if healthy else 1
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table(show_header=False, box=None, pad_edge=False)
    for key, value in findings.items():
        if key != "problems":
            table.add_row(f"[bold]{key}[/]", escape(str(value)))
    console = Console(highlight=False)
    console.print(table)
    for problem in findings["problems"]:
        console.print(f"[red]problem[/] {escape(problem)}")
    console.print("[green]ready[/]" if healthy else "[red]not ready[/]")
    return 0 if healthy else 1


async def _findings(model: str | None) -> dict[str, Any]:
    from codemode import CodeMode, CodeModeConfig, RuntimeUnavailable, __version__
    from codemode.activation import decide, lint, shipped_models

    out: dict[str, Any] = {
        "codemode": __version__,
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
    }
    problems = [f"model table: {text}" for text in lint(shipped_models())]
    async with CodeMode({"enabled": True}) as cm:
        try:
            out.update(await cm.ready())
            result = await cm.run().exec({"code": "return 6 * 7"})
            if result.status != "completed" or result.value != 42:
                problems.append(f"a small program did not give its value: {result.to_dict()}")
        except RuntimeUnavailable as error:
            problems.append(str(error))
    if model is not None:
        activation = decide(CodeModeConfig(), model=model, has_tools=True)
        verdict = "engages" if activation.engaged else "does not engage"
        out[f'"auto" with {model}'] = f"{verdict}: {activation.reason}"
    out["problems"] = problems
    return out
