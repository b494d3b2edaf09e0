"""`codemode exec`: one program, run to its end."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import UsageError
from .sources import load_tools, read_config, servers_of, settings_of

if TYPE_CHECKING:
    import argparse

    from codemode import Result, Tool

SUMMARY = "Run one program and print its result."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("file", nargs="?", help="file with the program; - for standard input")
    source.add_argument("-e", "--eval", metavar="CODE", help="the program itself")
    parser.add_argument("--typescript", action="store_true", help="the program is TypeScript")
    parser.add_argument("--tools", metavar="MODULE:ATTR", help="Python tools that it may call")
    parser.add_argument("--mcp", metavar="FILE", help="mcpServers configuration of further tools")
    parser.add_argument("--timeout-ms", type=int, help="per exec or wait")
    parser.add_argument("--json", action="store_true", help="print the whole result as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Runs the program; waits as often as it is suspended."""
    code = _read(arguments)
    tools = load_tools(arguments.tools) if arguments.tools else []
    result = asyncio.run(_run(code, tools, arguments))
    if arguments.json:
        sys.stdout.write(json.dumps(result.to_dict(), ensure_ascii=False) + "\n")
    else:
        _show(result)
    return 0 if result.status == "completed" else 1


def _read(arguments: argparse.Namespace) -> str:
    if arguments.eval is not None:
        return str(arguments.eval)
    try:
        if arguments.file == "-":
            return sys.stdin.read()
        return Path(arguments.file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {arguments.file}: {error}") from error


async def _run(code: str, tools: list[Tool], arguments: argparse.Namespace) -> Result:
    from codemode import CodeMode

    program = {"code": code}
    if arguments.typescript or str(arguments.file or "").endswith((".ts", ".mts")):
        program["language"] = "typescript"
    config = read_config(arguments.mcp)
    given = {} if arguments.timeout_ms is None else {"timeoutMs": arguments.timeout_ms}
    settings = settings_of(config, given)
    async with CodeMode(settings) as cm, servers_of(config) as (more, extensions):
        run = cm.run(tools=[*tools, *more], extensions=extensions)
        return await _drive(run, program, show=not arguments.json)


async def _drive(run: Any, program: dict[str, str], *, show: bool) -> Result:
    result: Result = await run.exec(program)
    while result.status == "waiting":
        if show:
            _output(result)
        result = await run.wait({"runId": result.run_id})
    return result


def _output(result: Result) -> None:
    for item in result.output:
        text = item["text"] if item["type"] == "text" else json.dumps(item["value"])
        sys.stdout.write(f"{text}\n")


def _show(result: Result) -> None:
    _output(result)
    for warning in result.warnings:
        sys.stderr.write(f"warning: {warning}\n")
    if result.status == "completed":
        sys.stdout.write(json.dumps(result.value, ensure_ascii=False, indent=2) + "\n")
    elif result.status == "failed":
        limit = f", limit: {result.limit}" if result.limit else ""
        sys.stderr.write(f"failed ({result.code}{limit}): {result.error}\n")
