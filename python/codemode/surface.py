"""What the model sees (srf.1 to srf.5, srf.7)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .catalog import HELPERS, QUICK_INDEX_BUDGET, CatalogView
from .records import record

if TYPE_CHECKING:
    from .config import CodeModeConfig
    from .tools import Tool

EXEC = "exec"
WAIT = "wait"

_EXAMPLE = """\
const found = await tools.search("what you need");
return found.map((tool) => [tool.id, tool.input]);"""


@record(frozen=True, slots=True, kw_only=True)
class ModelTool:
    """A tool as a provider is told of it.

    Attributes:
        name: Tool name.
        description: Text for the model.
        parameters: JSON Schema of the input.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]


def wait_tool() -> ModelTool:
    """The definition of wait."""
    return ModelTool(
        name=WAIT,
        description=(
            "Continue a program whose exec or wait result has status waiting. Returns as soon as "
            "it ends or waits again; tools keep running meanwhile. Takes only the runId of such "
            "a result."
        ),
        parameters={
            "type": "object",
            "properties": {
                "runId": {"type": "string", "description": "runId of a waiting result."}
            },
            "required": ["runId"],
            "additionalProperties": False,
        },
    )


def exec_tool(view: CatalogView, config: CodeModeConfig, features: Mapping[str, Any]) -> ModelTool:
    """The definition of exec for a run.

    Args:
        view: The run's catalog.
        config: Limits and languages.
        features: `globals` of the run's cells; says which optional parts exist.
    """
    return ModelTool(
        name=EXEC,
        description=_description(view, config, features),
        parameters={
            "type": "object",
            "properties": {
                "code": {
                    "type": "string",
                    "description": "The program. Code only, no Markdown fence.",
                },
                "language": {
                    "type": "string",
                    "enum": list(config.languages),
                    "description": f"Default {config.languages[0]}.",
                },
                "restartSafe": {
                    "type": "boolean",
                    "description": (
                        "Only for read-only work that may be repeated after a restart: other "
                        "tools are refused, and every await of a tool returns waiting."
                    ),
                },
            },
            "required": ["code"],
            "additionalProperties": False,
        },
    )


def direct_tool(tool: Tool) -> ModelTool:
    """A tool that the model sees itself."""
    parameters = tool.parameters
    return ModelTool(
        name=tool.name,
        description=tool.description,
        parameters=parameters if isinstance(parameters, Mapping) else {"type": "object"},
    )


def hidden_tool_error(name: str, view: CatalogView) -> str:
    """What a model reads that called a tool which only exists inside exec (srf.7)."""
    shown = name[:100]
    own = name.strip().rsplit(".", 1)[-1]
    if own.lower() in (EXEC, WAIT):
        return f"There is no tool {shown}; the name is {own.lower()}. Nothing was run."
    ids = [tool_id for tool_id, tool in view.guest if name in (tool_id, tool.name)]
    ids = ids or [tool_id for tool_id, tool in view.guest if tool.name == own]
    if ids:
        code = f"return await tools.callValue({_js(ids[0])}, {{}});"
        what = f"{shown} is not a tool of its own here; call it inside exec"
    elif view.guest and own in HELPERS:
        code = 'return await tools.search("what you need");'
        what = f"{shown} is no tool but a function inside exec"
    elif view.guest:
        code = f"return await tools.search({_js(shown)});"
        what = f"There is no tool {shown}; other tools are called inside exec"
    elif view.mcp:
        code = 'return await API.list("mcp");'
        what = f"There is no tool {shown}; other tools are called inside exec"
    else:
        return f"There is no tool {shown} in this run. Nothing was run."
    example = json.dumps({"code": code}, ensure_ascii=False)
    return f"{what}, for example exec({example}). Nothing was run."


def _js(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _description(view: CatalogView, config: CodeModeConfig, features: Mapping[str, Any]) -> str:
    words = {"javascript": "JavaScript", "typescript": "TypeScript"}
    languages = " or ".join(words[language] for language in config.languages)
    seconds = f"{config.timeout_ms / 1000:g}"
    parts = [
        _paragraph(
            f"Run a short {languages} program that calls tools. It is no shell: there are no",
            "files, network, processes, modules or imports, only what is listed here.",
        ),
        _paragraph(
            "The program is the body of an async function: use await and return. What it returns",
            "is the result, as JSON. text(value), json(value) and console.log(...) add output.",
            "Programs share no variables. Use Promise.all for independent calls.",
        ),
        _paragraph(
            f"It has {seconds} s; if tools take longer the result has status waiting and a runId",
            "for wait. Output and result together are limited to",
            f"{config.max_output_bytes} bytes. await yield_control() pauses the program until",
            "wait.",
        ),
    ]
    if view.guest:
        parts.append(_tools_text(view))
    if features.get("mcp"):
        parts.append(
            'MCP servers: await API.list("mcp") lists declaration files and '
            "await API.read(path) shows one; then await MCP.<server>.<tool>({...}) with one "
            "object. Results have {content, structuredContent?, isError?}."
        )
    if features.get("nodes"):
        parts.append(
            "Paired nodes: await nodes.list(), then (await nodes.get(id)).invoke(command, params)."
        )
    if features.get("swarm"):
        parts.append(
            "Subagents: await agents.run(prompt, {label, schema}) gives the answer of one; "
            'API.read("agents.d.ts") shows all options.'
        )
    names = sorted(features.get("namespaces") or ())
    if names:
        parts.append(f"Also there: {', '.join(names)} (see Object.keys of each).")
    return "\n\n".join(parts)


def _tools_text(view: CatalogView) -> str:
    text = [
        _paragraph(
            "Tools: await tools.callValue(id, input) gives a tool's value; await tools.call(id,",
            "input) gives {tool, result} with content blocks; await tools.describe(id) gives the",
            "schemas; await tools.search(query, {limit}) finds tools; ALL_TOOLS lists all of them.",
            "A failed call throws; catch it to go on. Example:",
        ),
        _EXAMPLE,
    ]
    # The last line of the index says how many tools it leaves out, and how to find them.
    index, shown, _ = view.quick_index(QUICK_INDEX_BUDGET)
    if shown:
        text.append(
            "After -> is what callValue gives. -> ? means that the form is unknown: return the "
            "value as it is first, and work with its fields in a later exec."
        )
        text.append(index)
    return "\n".join(text)


def _paragraph(*lines: str) -> str:
    return " ".join(lines)
