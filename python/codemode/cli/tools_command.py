"""`codemode tools`: what a catalog holds, as a program would see it."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import TYPE_CHECKING, Any

from . import UsageError
from .sources import load_tools, read_config, servers_of, settings_of

if TYPE_CHECKING:
    import argparse

SUMMARY = "Look into a catalog: list, search, describe, dts."

# The same programs that a model would write, so that both see the same.
_PROGRAMS = {
    "list": """
        const found = ALL_TOOLS.map(({ id, input, output }) => ({ id, input, output }));
        for (const name of typeof MCP === "undefined" ? [] : Object.keys(MCP)) {
            for (const { key, signature } of (await MCP[name].$api()).tools) {
                found.push({ id: `MCP.${name}.${key}`, signature: `MCP.${name}.${signature}` });
            }
        }
        return found;
    """,
    "search": "return await tools.search(QUERY, { limit: 50 });",
    "describe": """
        const [, server, tool] = /^(?:MCP[.]|mcp:)([^.:]+)[.:](.+)$/.exec(QUERY) ?? [];
        if (typeof MCP === "object" && server in MCP) {
            return (await MCP[server].$api(tool, { schema: true })).tools[0];
        }
        return await tools.describe(QUERY);
    """,
    "dts": """
        const found = (await API.list()).files;
        const wanted = QUERY === null ? found : found.filter((f) => f.path === QUERY);
        if (wanted.length === 0) {
            throw new Error(found.length === 0
                ? "only MCP servers (--mcp) have such files; see: codemode tools list"
                : `there is no such file; there are ${found.map((f) => f.path).join(", ")}`);
        }
        const texts = [];
        for (const file of wanted) texts.push((await API.read(file.path)).content);
        return texts.join("\\n");
    """,
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument("action", choices=sorted(_PROGRAMS))
    parser.add_argument("query", nargs="?", help="words, a tool id or a path of a declaration")
    parser.add_argument("--tools", metavar="MODULE:ATTR", help="Python tools")
    parser.add_argument("--mcp", metavar="FILE", help="mcpServers configuration")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    """Asks the catalog and prints its answer."""
    if arguments.action in ("search", "describe") and arguments.query is None:
        raise UsageError(f"{arguments.action} needs words or an id")
    if not (arguments.tools or arguments.mcp):
        raise UsageError("give --tools module:attr, --mcp FILE, or both")
    result = asyncio.run(_ask(arguments))
    if result.status != "completed":
        sys.stderr.write(f"codemode tools: {_reason(result, arguments.query)}\n")
        return 1
    _print(result.value, as_json=arguments.json)
    return 0


async def _ask(arguments: argparse.Namespace) -> Any:
    from codemode import CodeMode

    tools = load_tools(arguments.tools) if arguments.tools else []
    config = read_config(arguments.mcp)
    program = f"const QUERY = {json.dumps(arguments.query)};\n{_PROGRAMS[arguments.action]}"
    # The limits of the file are for the programs of a model.
    limits = {"maxOutputBytes": 10_485_760, "timeoutMs": 10_000, "languages": ["javascript"]}
    settings = settings_of(config, limits)
    async with CodeMode(settings) as cm, servers_of(config) as (more, extensions):
        if more and arguments.action == "search":
            sys.stderr.write("MCP tools are not searched; see: codemode tools list\n")
        run = cm.run(tools=[*tools, *more], extensions=extensions)
        return await run.exec({"code": program})


def _reason(result: Any, query: str | None) -> str:
    """Why the program failed, in words for a person; the program itself is not theirs."""
    error = str(getattr(result, "error", result.status))
    words = error.partition("\n    at ")[0].removeprefix("Error: ")
    if words.startswith("There is no tool"):
        return f"there is no tool {query}; see: codemode tools list"
    return words


def _print(value: Any, *, as_json: bool) -> None:
    if isinstance(value, str) and not as_json:
        sys.stdout.write(value + "\n")
        return
    if as_json or not isinstance(value, list):
        sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2) + "\n")
        return
    for entry in value:
        if "signature" in entry:
            sys.stdout.write(f"{entry['signature']}\n")
            continue
        output = entry.get("output") or "?"
        sys.stdout.write(f"{entry['id']}  {entry['input']} -> {output}\n")
