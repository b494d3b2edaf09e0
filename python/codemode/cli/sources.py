"""Where the tools of a command come from: Python modules and MCP configurations."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from . import UsageError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from codemode import Extension, Tool


def load_tools(reference: str) -> list[Tool]:
    """Loads `module:attribute`: a Tool, a list of them, or a function that gives one of these.

    Raises:
        UsageError: There is no such thing, or it is no tool.
    """
    from codemode.mcp import serve

    try:
        return serve.load_tools(reference)
    except serve.ServeError as error:
        raise UsageError(str(error)) from error


@asynccontextmanager
async def servers_of(path: str) -> AsyncIterator[tuple[list[Tool], list[Extension]]]:
    """Starts the servers of an MCP configuration and gives their tools and guest globals.

    Raises:
        UsageError: The file is refused, or the `mcp` extra is not installed.
    """
    from codemode.mcp import McpBridge, McpConfig, McpConfigError, McpServers, McpSurface

    try:
        config = McpConfig.load(path)
        async with McpServers(config) as servers:
            yield McpBridge(servers).tools(), [McpSurface(servers)]
    except (McpConfigError, ModuleNotFoundError) as error:
        raise UsageError(str(error)) from error
