"""Where the tools of a command come from: Python modules and MCP configurations."""

from __future__ import annotations

import sys
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from . import UsageError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from codemode import CodeModeConfig, Extension, Tool
    from codemode.mcp import McpConfig


def load_tools(reference: str) -> list[Tool]:
    """Loads `module:attribute`: a Tool, a list of them, or a function that gives one of these.

    Raises:
        UsageError: There is no such thing, or it is no tool.
    """
    from codemode.mcp import references

    try:
        return references.load_tools(reference)
    except references.BadReference as error:
        raise UsageError(str(error)) from error


def read_config(path: str | None) -> McpConfig:
    """Reads an MCP configuration, and says on stderr what of it is ignored.

    Raises:
        UsageError: The file is refused, or the `mcp` extra is not installed.
    """
    from codemode.mcp import McpConfig, McpConfigError
    from codemode.mcp.extra import ExtraMissing, require_extra

    if path is None:
        return McpConfig()
    try:
        require_extra()
        config = McpConfig.load(path)
    except (McpConfigError, ExtraMissing) as error:
        raise UsageError(str(error)) from error
    for note in config.notes:
        sys.stderr.write(f"{note}\n")
    return config


def settings_of(config: McpConfig, given: Mapping[str, Any]) -> CodeModeConfig:
    """The settings of the file, with those of the command line over them.

    Raises:
        UsageError: One of them is not allowed.
    """
    from codemode import CodeModeConfig, ConfigError

    try:
        return CodeModeConfig.parse(config.code_mode).merge({"enabled": True, **given})
    except ConfigError as error:
        raise UsageError(str(error)) from error


@asynccontextmanager
async def servers_of(config: McpConfig) -> AsyncIterator[tuple[list[Tool], list[Extension]]]:
    """Starts the servers and gives their tools and guest globals; says which are not there."""
    from codemode.mcp import McpBridge, McpServers, McpSurface

    if not config.servers:
        yield [], []
        return
    async with McpServers(config) as servers:
        for name, why in servers.snapshot.unavailable.items():
            sys.stderr.write(f"MCP server {name} is unavailable: {why}\n")
        yield McpBridge(servers).tools(), [McpSurface(servers)]
