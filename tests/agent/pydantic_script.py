"""A model for agents of pydantic-ai that follows a script, and tools for them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel
from pydantic_ai import Agent, RunContext
from pydantic_ai.exceptions import ModelRetry
from pydantic_ai.messages import (
    ModelMessage,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel

from codemode.adapters.pydantic_ai import CodeModeCapability


class Script:
    """A model that follows a script; turns are calls, texts, or functions of the results."""

    def __init__(self, *turns: Any) -> None:
        self.turns = list(turns)
        self.shown: list[list[str]] = []
        self.results: list[ToolReturnPart] = []

    def __call__(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.shown.append(sorted(tool.name for tool in info.function_tools))
        self.results = [
            part for m in messages for part in m.parts if isinstance(part, ToolReturnPart)
        ]
        turn = self.turns.pop(0)
        if callable(turn):
            turn = turn(self.results)
        if isinstance(turn, str):
            return ModelResponse([TextPart(turn)])
        calls = turn if isinstance(turn, list) else [turn]
        number = len(self.results)
        return ModelResponse(
            [
                ToolCallPart(name, given, tool_call_id=f"t{number + index}")
                for index, (name, given) in enumerate(calls)
            ]
        )


def program(code: str) -> tuple[str, dict[str, Any]]:
    return "exec", {"code": code}


def wait(results: list[ToolReturnPart]) -> tuple[str, dict[str, Any]]:
    return "wait", {"runId": results[-1].content["runId"]}


async def outcome(code: str, given: Any, **options: Any) -> tuple[str, Any]:
    """`(outcome, content)` of one program in an agent with the tools `given`."""
    script = Script(program(code), "done")
    agent = Agent(
        FunctionModel(script),
        tools=given,
        capabilities=[CodeModeCapability(**options)],
    )
    assert (await agent.run("go")).output == "done"
    (part,) = script.results
    return part.outcome, part.content if isinstance(part.content, dict) else json.loads(
        str(part.content)
    )


@dataclass
class Deps:
    port: str


class Ship(BaseModel):
    id: str
    paid: bool


async def list_ships(ctx: RunContext[Deps], limit: int = 3) -> list[Ship]:
    """Lists ships of the port."""
    return [Ship(id=f"{ctx.deps.port}{n}", paid=n % 2 == 0) for n in range(limit)]


def pay(ctx: RunContext[Deps], ship_id: str) -> str:
    """Pays for a ship."""
    if not ship_id:
        raise ModelRetry("give an id")
    return f"paid {ship_id} in {ctx.tool_call_id}"
