"""MCP servers behind code mode, and code mode as an MCP server.

    async with McpServers(McpConfig.load("mcp.json")) as servers, CodeMode(True) as cm:
        bridge = McpBridge(servers)
        run = cm.run(bridge.tools(), extensions=[McpSurface(servers)])

The official SDK is imported when the first server starts, not here: it takes half a second.
"""

from __future__ import annotations

from .bridge import McpBridge
from .config import HttpServer, McpConfig, McpConfigError, ServerConfig, StdioServer
from .manager import McpServers
from .owner import McpCallError, McpUnavailable
from .snapshot import McpSnapshot, McpTool, ServerView
from .surface import McpSurface

__all__ = [
    "HttpServer",
    "McpBridge",
    "McpCallError",
    "McpConfig",
    "McpConfigError",
    "McpServers",
    "McpSnapshot",
    "McpSurface",
    "McpTool",
    "McpUnavailable",
    "ServerConfig",
    "ServerView",
    "StdioServer",
]
