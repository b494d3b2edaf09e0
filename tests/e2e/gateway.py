"""A small gateway for these tests: tools of every source, a scripted model, one agent turn."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from examples.scripted import ScriptedModel

from codemode import CodeMode, Hooks, Scope, Tool, ToolContext, ToolResult
from codemode.agent import Agent
from codemode.mcp import McpSurface

SCOPE = Scope(agent_id="main", session_id="s1", session_key="agent:main:s1", run_id="r1")

NAME = {
    "type": "object",
    "properties": {"name": {"type": "string"}},
    "required": ["name"],
    "additionalProperties": False,
}


class DenyWipe:
    """A policy under which one tool does not exist."""

    def allows(self, tool: Tool, scope: Scope) -> bool:
        return tool.name != "wipe_disk"


class Gateway:
    """Its tools, and what they were called with.

    Attributes:
        calls: `(tool name, input)` of every call that reached a tool.
        release: The slow tool ends when it is set.
    """

    def __init__(self) -> None:
        self.calls: list[tuple[str, Any]] = []
        self.release = asyncio.Event()
        self.tools = [
            self.tool("greet", self._greet, description="Greets somebody.", parameters=NAME),
            self.tool("add_note", self._note, owner="notes", description="Plugin: keeps a note."),
            self.tool("pick_color", self._color, source="client", description="The app asks."),
            self.tool("create_issue", self._issue, source="mcp", owner="tracker", parameters=NAME),
            self.tool("screenshot", self._image, direct_only=True, description="A picture."),
            self.tool("wipe_disk", self._never),
            self.tool("slow", self._slow),
            # The shell tool of the same name as code mode's own.
            self.tool("exec", self._shell, owner="shell", description="Runs a shell command."),
            self.tool("tool_search", self._never),
        ]

    def tool(self, name: str, execute: Any, **more: Any) -> Tool:
        async def recorded(given: Any, context: ToolContext) -> Any:
            self.calls.append((name, given))
            return await execute(given)

        return Tool(name=name, execute=recorded, **more)

    async def turn(
        self, config: Any, model: ScriptedModel, *, prompt: str = "go", **more: Any
    ) -> tuple[Agent, str]:
        """One agent turn; gives the agent (closed) and the model's answer."""
        async with CodeMode(config) as cm:
            # Tests with short deadlines are not about how long a process takes to start.
            await cm.ready()
            agent = self.agent(cm, model, **more)
            async with agent:
                return agent, (await agent.ask(prompt)).text

    def agent(self, cm: CodeMode, model: ScriptedModel, **more: Any) -> Agent:
        given: dict[str, Any] = {
            "tools": self.tools,
            "scope": SCOPE,
            "policy": DenyWipe(),
            "extensions": [McpSurface()],
        }
        return Agent(cm, model, **{**given, **more})

    async def value(self, code: str, **more: Any) -> Any:
        """What a model's program gives in one turn."""
        model = ScriptedModel({"exec": code}, lambda seen: seen.results[-1])
        _, text = await self.turn(True, model, **more)
        result = json.loads(text)
        assert result["status"] == "completed", result
        return result["value"]

    async def _greet(self, given: Any) -> Any:
        return {"text": f"Hello {given['name']}"}

    async def _note(self, given: Any) -> Any:
        return ToolResult(content=[{"type": "text", "text": "kept"}], details={"kept": given})

    async def _color(self, given: Any) -> Any:
        return "green"

    async def _issue(self, given: Any) -> Any:
        return {"content": [{"type": "text", "text": f"issue {given['name']}"}]}

    async def _image(self, given: Any) -> Any:
        return ToolResult(content=[{"type": "image", "data": "AAAA", "mimeType": "image/png"}])

    async def _slow(self, given: Any) -> Any:
        await self.release.wait()
        return {"slow": given}

    async def _shell(self, given: Any) -> Any:
        return f"$ {given['command']}"

    async def _never(self, given: Any) -> Any:
        raise AssertionError("this tool must never run")


class Approving(Hooks):
    """Hooks that note what they see; `verdicts` by tool name answer `before_tool_call`."""

    def __init__(self, **verdicts: Any) -> None:
        self.verdicts = verdicts
        self.seen: list[Any] = []
        self.asked: list[str] = []

    def before_tool_call(self, event: Any) -> Any:
        self.seen.append(event)
        return self.verdicts.get(event.name)

    async def approve(self, event: Any, prompt: str) -> bool:
        self.asked.append(prompt)
        return True
