"""`run.model_tools` in the form of each provider's request, and results as text."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..models import Result
    from ..surface import ModelTool
    from ..tools import Tool, ToolResult

    AnyTool = ModelTool | Tool


def openai_responses(tools: Iterable[AnyTool]) -> list[dict[str, Any]]:
    """`tools` of an OpenAI Responses request."""
    # Without `strict: false` that API rewrites schemas with optional properties.
    return [
        {
            "type": "function",
            "name": tool.name,
            "description": tool.description,
            "parameters": _parameters(tool),
            "strict": False,
        }
        for tool in tools
    ]


def openai_chat(tools: Iterable[AnyTool]) -> list[dict[str, Any]]:
    """`tools` of an OpenAI Chat Completions request, and of the many APIs that copy it."""
    return [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": _parameters(tool),
            },
        }
        for tool in tools
    ]


def anthropic(tools: Iterable[AnyTool]) -> list[dict[str, Any]]:
    """`tools` of an Anthropic Messages request."""
    return [
        {"name": tool.name, "description": tool.description, "input_schema": _parameters(tool)}
        for tool in tools
    ]


def gemini(tools: Iterable[AnyTool]) -> list[dict[str, Any]]:
    """`tools` of a Gemini request: one member with all declarations, none without tools."""
    # `parameters` would take only a part of JSON Schema; `parametersJsonSchema` takes all of it.
    declarations = [
        {
            "name": tool.name,
            "description": tool.description,
            "parametersJsonSchema": _parameters(tool),
        }
        for tool in tools
    ]
    return [{"functionDeclarations": declarations}] if declarations else []


def result_text(result: Result | ToolResult) -> str:
    """What a model is told of a result, as text.

    The telemetry of exec and wait is left out: it is for the host and costs tokens. Content
    blocks of a direct tool that are no text are given as JSON.
    """
    if hasattr(result, "content"):
        return "\n".join(block_text(block) for block in result.content)
    told = {key: value for key, value in result.to_dict().items() if key != "telemetry"}
    return json.dumps(told, ensure_ascii=False, separators=(",", ":"))


def block_text(block: Any) -> str:
    """A content block as text; JSON if it is none."""
    if isinstance(block, Mapping) and block.get("type") == "text":
        return str(block.get("text", ""))
    return json.dumps(block, ensure_ascii=False, separators=(",", ":"), default=str)


def _parameters(tool: AnyTool) -> dict[str, Any]:
    if isinstance(tool.parameters, Mapping):
        return dict(tool.parameters)
    return {"type": "object", "properties": {}}
