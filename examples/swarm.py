"""A program that fans out over child agents and puts their answers together.

python -m examples.swarm
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

from examples.scripted import ScriptedModel

from codemode import CodeMode
from codemode.agent import Agent, LoopSpawner
from codemode.extensions import ChildRequest, Limits, Swarm

PROGRAM = """
phase("research");
const cities = ["Oslo", "Lima", "Pune"];
const schema = {
  type: "object",
  properties: { city: { type: "string" }, letters: { type: "integer" } },
  required: ["city", "letters"],
  additionalProperties: false,
};
const found = await Promise.all(
  cities.map((city) => agents.run(`How many letters has ${city}?`, { label: city, schema })),
);
phase("summary");
const total = found.reduce((sum, one) => sum + one.letters, 0);
log(`${found.length} children, ${total} letters`);
return total;
"""


async def main(notes: list[str] | None = None) -> str:
    """One conversation; `notes` receives what the program tells the user."""
    told = notes if notes is not None else []
    async with CodeMode(True) as cm:

        def child(request: ChildRequest) -> Agent:
            # A child has no tools here. With a real model it would have some, and a prompt.
            city = str(request.label)
            answer = json.dumps({"city": city, "letters": len(city)})
            return Agent(cm, ScriptedModel(answer), tools_disabled=True)

        swarm = Swarm(
            LoopSpawner(child),
            limits=Limits(concurrency=2),
            on_note=lambda kind, text: told.append(f"{kind}: {text}"),
        )

        def report(seen: Any) -> str:
            return f"Together {json.loads(seen.results[-1])['value']} letters."

        parent = ScriptedModel({"exec": PROGRAM}, report)
        async with Agent(cm, parent, extensions=[swarm]) as agent:
            return (await agent.ask("Count the letters.")).text


if __name__ == "__main__":
    notes: list[str] = []
    print(asyncio.run(main(notes)), *notes, sep="\n")  # noqa: T201
