"""Code mode in front of MCP servers: their tools cost no prompt, programs read declarations.

python -m examples.mcp_servers                 # with the small server beside this file
python -m examples.mcp_servers mcp.json        # with servers of your own, lists them only
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

from examples.scripted import ScriptedModel

from codemode import CodeMode
from codemode.agent import Agent
from codemode.mcp import McpBridge, McpConfig, McpServers, McpSurface

WEATHER = {
    "mcpServers": {
        "weather": {
            "command": sys.executable,
            "args": [str(Path(__file__).with_name("weather_server.py"))],
        }
    }
}
LIST = """
const { files } = await API.list("mcp");
return (await Promise.all(files.map((f) => API.read(f.path)))).map((f) => f.content).join("\\n");
"""
PROGRAM = """
const days = await Promise.all(
  ["Oslo", "Lima"].map((city) => MCP.weather.getForecast({ city })),
);
return days.map((day) => day.structuredContent);
"""


async def main(config: McpConfig | None = None) -> str:
    """One conversation: the model reads the declarations, then writes a program."""
    turns = [{"exec": LIST}, {"exec": PROGRAM}] if config is None else [{"exec": LIST}]
    model = ScriptedModel(*turns, lambda seen: str(json.loads(seen.results[-1])["value"]))
    async with (
        McpServers(config or McpConfig.parse(WEATHER), ready_within=60) as servers,
        CodeMode(True) as cm,
        Agent(
            cm, model, tools=McpBridge(servers).tools(), extensions=[McpSurface(servers)]
        ) as agent,
    ):
        return (await agent.ask("What will the weather be?")).text


if __name__ == "__main__":
    given = McpConfig.load(sys.argv[1]) if len(sys.argv) > 1 else None
    print(asyncio.run(main(given)))  # noqa: T201
