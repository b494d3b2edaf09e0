"""A stand-in for a model, so that the examples run without a key and always do the same.

With a real model, use `codemode.agent.AnthropicMessages`, `OpenAIResponses` or `OpenAIChat`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

from codemode.agent import ModelRequest, Reply, ToolCall, Usage

Turn = str | Mapping[str, Any] | Callable[["Seen"], Any]


class Seen:
    """What the model sees when a turn of its script begins.

    Attributes:
        request: The whole request.
        results: Texts of all tool results so far, oldest first.
        run_ids: The runIds of all waiting results so far, oldest first.
    """

    def __init__(self, request: ModelRequest) -> None:
        """Reads the request."""
        tools = [entry for entry in request.entries if entry["role"] == "tool"]
        self.request = request
        self.results = [entry["content"][0]["text"] for entry in tools if entry["content"]]
        self.run_ids = [entry["runId"] for entry in tools if "runId" in entry]


class ScriptedModel:
    """A provider whose model follows a script.

    A turn is a final text, or `{"exec": code}`, `{"wait": run_id}`, `{"calls": [(name, input)],
    "text": …}`, or a function of `Seen` that gives one of these.

    Attributes:
        payloads: Every request that was sent.
    """

    form = "scripted"
    name = "example"

    def __init__(self, *turns: Turn, model: str = "scripted") -> None:
        """Follows `turns`, one per request."""
        self.model = model
        self.payloads: list[Mapping[str, Any]] = []
        self._turns = list(turns)

    def payload(self, request: ModelRequest) -> dict[str, Any]:
        """Tools in the form of the Messages API, so that the guard can read them."""
        tools = [
            {"name": t.name, "description": t.description, "input_schema": t.parameters}
            for t in request.tools
        ]
        return {"tools": tools, "request": request} if tools else {"request": request}

    async def stream(self, payload: Mapping[str, Any]) -> AsyncIterator[str | Reply]:
        """Gives the next turn of the script."""
        self.payloads.append(payload)
        turn: Any = self._turns.pop(0)
        if callable(turn):
            turn = turn(Seen(payload["request"]))
        if isinstance(turn, str):
            turn = {"text": turn}
        calls = list(turn.get("calls", ()))
        if "exec" in turn:
            calls.append(("exec", {"code": turn["exec"]}))
        if "wait" in turn:
            calls.append(("wait", {"runId": turn["wait"]}))
        text = turn.get("text", "")
        if text:
            yield text
        before = sum(len(entry.get("calls", ())) for entry in payload["request"].entries)
        made = tuple(
            ToolCall(id=f"call-{number}", name=name, input=given)
            for number, (name, given) in enumerate(calls, before + 1)
        )
        yield Reply(text=text, calls=made, usage=Usage(input=100, output=10))

    def tools_shown(self, number: int = -1) -> list[str]:
        """Names of the tools in a request."""
        return [tool["name"] for tool in self.payloads[number].get("tools", ())]
