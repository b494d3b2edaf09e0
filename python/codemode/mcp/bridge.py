"""MCP tools as tools of a run: each call goes to the manager, each result comes back as data."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..tools import MCP, Tool, ToolContext, ToolResult
from . import results

if TYPE_CHECKING:
    from .manager import McpServers
    from .snapshot import McpTool, ServerView

_TEXT: dict[str, Any] = {"type": "string"}


class McpCall:
    """`execute` of one MCP tool."""

    __slots__ = ("direct", "server", "servers", "tool")

    def __init__(self, servers: McpServers, server: str, tool: McpTool) -> None:
        """Calls `tool` of `server`."""
        self.servers = servers
        self.server = server
        self.tool = tool.name
        self.direct = tool.direct

    async def __call__(self, given: Any, ctx: ToolContext) -> Any:
        """Gives `{content, structuredContent?, isError?}`; a direct-only tool's content whole.

        Raises:
            McpUnavailable: The server is not there.
            McpCallError: It did not carry out the call.
        """

        async def pass_on(progress: float, total: float | None, message: str | None) -> None:
            known = {"progress": progress, "total": total, "message": message}
            ctx.update({k: v for k, v in known.items() if v is not None})

        raw = await self.servers.call_tool(self.server, self.tool, given, on_progress=pass_on)
        return _whole(raw) if self.direct else results.call_result(raw)


class McpHelper:
    """`execute` of one of the four helpers of a server: its resources and prompts.

    Attributes:
        path: Where the guest finds it under the server, such as `("resources", "list")`.
    """

    __slots__ = ("_servers", "path", "server")

    def __init__(self, servers: McpServers, server: str, path: tuple[str, str]) -> None:
        """Serves `MCP.<server>.<path>`."""
        self._servers = servers
        self.server = server
        self.path = path

    async def __call__(self, given: Any, _ctx: ToolContext) -> Any:
        """Gives the result as plain data; raises as `McpCall` does.

        Raises:
            TypeError: `uri`, `name` or `arguments` is missing or of the wrong type.
        """
        servers, server = self._servers, self.server
        if self.path == ("resources", "list"):
            return await self._resources()
        if self.path == ("resources", "read"):
            where: dict[str, Any] = {"uri": self._text(given, "uri")}
            return results.read_result(await servers.request(server, "resources/read", where))
        if self.path == ("prompts", "list"):
            found = await servers.listing(server, "prompts/list", "prompts")
            return {"prompts": results.listing(found)}
        params: dict[str, Any] = {
            "name": self._text(given, "name"),
            "arguments": self._arguments(given),
        }
        return results.prompt_result(await servers.request(server, "prompts/get", params))

    async def _resources(self) -> dict[str, Any]:
        found = await self._servers.listing(self.server, "resources/list", "resources")
        return {"resources": results.listing(found)}

    def _text(self, given: Mapping[str, Any], key: str) -> str:
        value = given.get(key)
        if isinstance(value, str):
            return value
        raise TypeError(f'{".".join(self.path)} takes {{ {key}: "…" }}; {key} must be a string')

    def _arguments(self, given: Mapping[str, Any]) -> dict[str, str]:
        """The protocol has only strings here; other values are sent as their JSON text."""
        arguments = given.get("arguments")
        if arguments is None:
            return {}
        if not isinstance(arguments, Mapping):
            raise TypeError("prompts.get: arguments must be an object of strings")
        return {k: v if isinstance(v, str) else json.dumps(v) for k, v in arguments.items()}


class McpBridge:
    """Makes the tools of a run from what the servers offer now."""

    def __init__(self, servers: McpServers) -> None:
        """Reads `servers.snapshot` each time."""
        self._servers = servers
        self._views: dict[str, tuple[ServerView, list[Tool]]] = {}

    def tools(self) -> list[Tool]:
        """The tools of all servers.

        While a server's lists are unchanged they are the same objects, so that a catalog made of
        them is found again.
        """
        out: list[Tool] = []
        for view in self._servers.snapshot.servers:
            known = self._views.get(view.name)
            if known is None or known[0] != view:
                known = self._views[view.name] = (view, self._make(view))
            out.extend(known[1])
        return out

    def _make(self, view: ServerView) -> list[Tool]:
        made = [
            Tool(
                name=tool.name,
                description=tool.description,
                parameters=tool.input_schema,
                output_schema=tool.output_schema,
                execute=McpCall(self._servers, view.name, tool),
                owner=view.name,
                source=MCP,
                direct_only=tool.direct,
            )
            for tool in view.tools
        ]
        if view.resources:
            made.append(self._helper(view, "resources", "list", "Lists the resources.", {}))
            made.append(self._helper(view, "resources", "read", "Reads one.", {"uri": _TEXT}))
        if view.prompts:
            fields: dict[str, Any] = {
                "name": _TEXT,
                "arguments": {"type": "object", "additionalProperties": _TEXT},
            }
            made.append(self._helper(view, "prompts", "list", "Lists the prompts.", {}))
            made.append(self._helper(view, "prompts", "get", "Fills in one.", fields))
        return made

    def _helper(
        self, view: ServerView, group: str, name: str, description: str, fields: dict[str, Any]
    ) -> Tool:
        required = [key for key in fields if key != "arguments"]
        return Tool(
            name=f"{group}.{name}",
            description=description,
            parameters={"type": "object", "properties": fields, "required": required},
            execute=McpHelper(self._servers, view.name, (group, name)),
            owner=view.name,
            source=MCP,
        )


def _whole(raw: Mapping[str, Any]) -> ToolResult:
    """A result for the model itself: images stay."""
    kept = [
        {k: v for k, v in item.items() if k not in ("_meta", "annotations")}
        for item in results.blocks(raw.get("content"))
    ]
    structured = results.structured_content(raw)
    if structured is None:
        return ToolResult(content=kept, is_error=bool(raw.get("isError")))
    return ToolResult(content=kept, details=structured, is_error=bool(raw.get("isError")))
