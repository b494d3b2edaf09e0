"""`codemode serve`: an MCP server that shows exec and wait in front of other servers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codemode.mcp import serve as _serve

if TYPE_CHECKING:
    import argparse

SUMMARY = "Serve exec and wait over MCP in front of the servers of a configuration."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    _serve.add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Serves until it is told to stop."""
    return _serve.run(arguments)
