"""A job that takes longer than one exec: the program waits, the model gets on with `wait`.

The deadline of exec is one second here; the job takes three. While it runs, no process of the
sandbox is held: the program is a few kilobytes of image in memory.

    python -m examples.long_job
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

from examples.scripted import ScriptedModel

from codemode import CodeMode, ToolContext, tool
from codemode.agent import Agent


def make_tool(seconds: float) -> Any:
    """The tool `render_report`, which takes so long."""

    @tool
    async def render_report(month: str, context: ToolContext) -> dict[str, Any]:
        """Renders the report of a month; takes a while.

        Args:
            month: Such as 2026-05.
            context: Not shown to the model.
        """
        steps = 10
        for step in range(steps):
            context.update({"done": step / steps})
            await asyncio.sleep(seconds / steps)
        return {"month": month, "pages": 12}

    return render_report


PROGRAM = """
text("started");
const months = ["2026-04", "2026-05"];
const reports = await Promise.all(months.map((month) => tools.render_report({ month })));
text("rendered");
return reports.reduce((pages, report) => pages + report.pages, 0);
"""


def wait_or_report(seen: Any) -> Any:
    """What a model does with `waiting`."""
    last = json.loads(seen.results[-1])
    if last["status"] == "waiting":
        return {"wait": last["runId"]}
    return f"{last['value']} pages, after {len(seen.run_ids)} times waiting."


async def main(seconds: float = 3.0) -> str:
    """One conversation."""
    model = ScriptedModel({"exec": PROGRAM}, *[wait_or_report] * 20)
    async with CodeMode({"enabled": True, "timeoutMs": 1_000}) as cm:
        await cm.ready()
        async with Agent(cm, model, tools=[make_tool(seconds)]) as agent:
            return (await agent.ask("Render the spring reports.")).text


if __name__ == "__main__":
    print(asyncio.run(main()))  # noqa: T201
