"""The tools that the conformance suite calls, as direct-only Python tools of `codemode serve`."""

from __future__ import annotations

import asyncio
import base64
from typing import Any

from codemode.tools import Tool, ToolContext, ToolResult

PICTURE = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(32)).decode()
SOUND = base64.b64encode(b"RIFF" + bytes(40)).decode()
TEXT = {"type": "text", "text": "This is a simple text response for testing."}
IMAGE = {"type": "image", "data": PICTURE, "mimeType": "image/png"}
AUDIO = {"type": "audio", "data": SOUND, "mimeType": "audio/wav"}


def embedded(uri: str, text: str, mime: str) -> dict[str, Any]:
    return {"type": "resource", "resource": {"uri": uri, "mimeType": mime, "text": text}}


def answering(name: str, *content: dict[str, Any], is_error: bool = False) -> Tool:
    async def execute(given: Any, ctx: ToolContext) -> ToolResult:
        return ToolResult(content=list(content), is_error=is_error)

    return tool(name, execute)


def tool(name: str, execute: Any, parameters: Any = None) -> Tool:
    return Tool(
        name=name,
        description=f"Conformance tool {name}.",
        parameters=parameters or {"type": "object", "properties": {}},
        execute=execute,
        direct_only=True,
    )


async def report(given: Any, ctx: ToolContext) -> ToolResult:
    for n in (0, 50, 100):
        ctx.update({"progress": n, "total": 100, "message": f"at {n}"})
        await asyncio.sleep(0.05)
    return ToolResult(content=[TEXT])


SCHEMA_2020 = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"}},
    "additionalProperties": False,
}

TOOLS = [
    answering("test_simple_text", TEXT),
    answering("test_image_content", IMAGE),
    answering("test_audio_content", AUDIO),
    answering(
        "test_embedded_resource",
        embedded("test://embedded-resource", "This is an embedded resource content.", "text/plain"),
    ),
    answering(
        "test_multiple_content_types",
        {"type": "text", "text": "Multiple content types test:"},
        IMAGE,
        embedded(
            "test://mixed-content-resource", '{"test":"data","value":123}', "application/json"
        ),
    ),
    answering(
        "test_error_handling",
        {"type": "text", "text": "This tool intentionally returns an error for testing"},
        is_error=True,
    ),
    tool("test_tool_with_progress", report),
    tool("json_schema_2020_12_tool", report, SCHEMA_2020),
]
