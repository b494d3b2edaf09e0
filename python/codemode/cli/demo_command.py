"""`codemode demo`: one realistic program over sample tools, from exec to the final value."""

from __future__ import annotations

import asyncio
import json
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import argparse

SUMMARY = "Show code mode at work on built-in sample tools."

PROGRAM = """\
// Which customers have unpaid heavy shipments, and how good is their credit?
const [finder] = await tools.search("list shipments");
const ports = ["Rotterdam", "Valencia", "Gdansk"];
const lists = await Promise.all(ports.map((port) => tools.callValue(finder.id, { port })));
const open = lists.flat().filter((s) => !s.paid && s.tons > 10);
text(`${open.length} unpaid shipments over 10 t in ${ports.length} ports`);

const ids = [...new Set(open.map((s) => s.customer))].sort();
const customers = await Promise.all(ids.map((id) => tools.get_customer({ id })));
const grades = await tools.run_credit_check({ customers: ids });   // slow: the cell is suspended

return customers.map((c) => ({
  customer: c.name,
  grade: grades[c.id],
  tons: open.filter((s) => s.customer === c.id).reduce((sum, s) => sum + s.tons, 0),
}));
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument("--json", action="store_true", help="print the events as JSON Lines")


def run(arguments: argparse.Namespace) -> int:
    """Runs the demonstration."""
    return asyncio.run(_demo(as_json=arguments.json))


async def _demo(*, as_json: bool) -> int:
    from rich.console import Console
    from rich.syntax import Syntax

    from codemode import CodeMode, Scope

    from .demo_tools import demo_tools

    console = Console(highlight=False, quiet=as_json)
    scope = Scope(agent_id="demo", session_id="s1", session_key="demo", run_id="r1")
    async with CodeMode({"enabled": True, "timeoutMs": 1000}) as cm:
        run = cm.run(tools=demo_tools(), scope=scope)
        names = ", ".join(tool.name for tool in run.model_tools)
        hidden = sum(len(json.dumps(t.parameters)) + len(t.description) for t in demo_tools())
        console.print(f"[bold]The model sees[/] {names}; {len(demo_tools())} tools are catalogued")
        console.print(f"(their schemas and descriptions: {hidden:,} characters)\n")
        console.print(Syntax(PROGRAM, "javascript", background_color="default"))
        result: Any = None
        began = time.perf_counter()
        result = await run.exec({"code": PROGRAM}, call_id="call-1")
        _result(console, "exec", result, began)
        while result.status == "waiting":
            began = time.perf_counter()
            result = await run.wait({"runId": result.run_id}, call_id="call-2")
            _result(console, "wait", result, began)
        if as_json:
            print(run.trajectory.to_jsonl(), end="")
        else:
            _timeline(console, run.trajectory.events)
        return 0 if result.status == "completed" else 1


def _result(console: Any, name: str, result: Any, began: float) -> None:
    took = (time.perf_counter() - began) * 1000
    console.print(f"[bold]{name}[/] → [cyan]{result.status}[/] after {took:.0f} ms")
    for item in result.output:
        console.print(f"  output: {item.get('text', item.get('value'))}", markup=False)
    if result.status == "waiting":
        waits = ", ".join(f"{c.tool} ({c.state})" for c in result.pending_tool_calls)
        console.print(f"  waits for {waits}; the whole VM is {result.snapshot_bytes:,} bytes now")
    elif result.status == "completed":
        for row in result.value:
            console.print(f"  {json.dumps(row)}", markup=False)
    else:
        console.print(f"  {result.error}", markup=False, style="red")


def _timeline(console: Any, events: list[Any]) -> None:
    from rich.table import Table

    table = Table(title="Nested calls", title_justify="left", box=None, pad_edge=False)
    for column in ("start", "took", "", "tool", "outcome"):
        table.add_column(column, justify="right" if column in ("start", "took") else "left")
    started = {e["callId"]: e for e in events if e["type"] == "call_start"}
    nested = [e for e in events if e["type"] == "call_end" and "parentCallId" in e]
    if not nested:
        return
    zero = min(started[e["callId"]]["time"] for e in nested)
    longest = max(e["time"] - zero for e in nested) or 1
    for end in sorted(nested, key=lambda e: (started[e["callId"]]["time"], e["callId"])):
        start = started[end["callId"]]["time"] - zero
        took = end["time"] - zero - start
        left, width = int(40 * start / longest), max(1, int(40 * took / longest))
        bar = " " * left + "━" * width
        table.add_row(
            f"{start * 1000:.0f} ms",
            f"{took * 1000:.0f} ms",
            bar.ljust(41),
            end["tool"],
            end["outcome"],
        )
    console.print(table)
