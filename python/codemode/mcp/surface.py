"""What the guest sees of MCP: the `MCP` object, the files of `API`, and `$api` (mcp.1, mcp.3).

Everything is made of one version of the catalog when a guest first asks for it, and kept with it.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from ..call import GuestError
from .bridge import McpHelper

if TYPE_CHECKING:
    from ..call import Call
    from ..catalog import CatalogView
    from ..executor import Executor
    from ..tools import Tool
    from .manager import McpServers

API_LIST, API_READ, MCP_NAMES = 3, 4, 5
INDEX = "mcp/index.d.ts"


class McpSurface:
    """The extension of a run that shows its MCP tools to the guest."""

    ops = frozenset({"mcpApi"})

    def __init__(self, servers: McpServers | None = None) -> None:
        """Shows the MCP tools of a run.

        Args:
            servers: Where the tools come from; names those servers that have none to offer.
        """
        self._servers = servers
        self._made: WeakKeyDictionary[CatalogView, _Surface] = WeakKeyDictionary()

    def globals(self, view: CatalogView) -> Mapping[str, Any]:
        """`MCP` exists only if there is something in it."""
        return {"mcp": bool(view.mcp)}

    def fetch(self, kind: int, argument: str, view: CatalogView) -> Any:
        """Answers for `MCP` and for the files under `mcp/`."""
        if kind == MCP_NAMES:
            return self._of(view).names_blob()
        if kind == API_LIST:
            return self._of(view).files() if self._has_files(view) else NotImplemented
        if kind == API_READ and argument.startswith("mcp/") and self._has_files(view):
            return self._of(view).read(argument)
        return NotImplemented

    async def call(self, call: Call, _executor: Executor, view: CatalogView) -> Any:
        """Serves `MCP.<server>.$api(tool?, {schema?})`.

        Raises:
            GuestError: There is no such server or tool.
        """
        given = call.arguments if isinstance(call.arguments, Mapping) else {}
        options = given.get("options")
        schema = isinstance(options, Mapping) and options.get("schema") is True
        return self._of(view).header(call.target, given.get("toolName"), schema=schema)

    def named_in(self, code: str) -> set[str]:
        """Which of the servers a program names, by the name of the configuration or of `MCP`."""
        from .._engine import mcp_names

        views = () if self._servers is None else self._servers.snapshot.servers
        names = mcp_names([(view.name, []) for view in views])
        return {
            view.name
            for view, (key, alias, _) in zip(views, names, strict=True)
            if any(_is_word(name, code) for name in {view.name, key, alias})
        }

    def _has_files(self, view: CatalogView) -> bool:
        return bool(view.mcp) or bool(self._unavailable())

    def _unavailable(self) -> dict[str, str]:
        return {} if self._servers is None else self._servers.snapshot.unavailable

    def _of(self, view: CatalogView) -> _Surface:
        unavailable = self._unavailable()
        made = self._made.get(view)
        if made is None or made.unavailable != unavailable:
            instructions = {} if self._servers is None else self._servers.snapshot.instructions
            made = self._made[view] = _Surface(view, unavailable, instructions)
        return made


@dataclass(slots=True)
class _Server:
    name: str
    tools: list[tuple[str, Tool]] = field(default_factory=list)
    # group -> name -> id, such as resources -> list -> mcp:docs:resources.list
    helpers: dict[str, dict[str, str]] = field(default_factory=dict)
    unavailable: str | None = None
    key: str = ""
    alias: str = ""
    # (key, alias) of each tool
    names: list[tuple[str, str]] = field(default_factory=list)


class _Surface:
    """The MCP side of one version of a catalog."""

    def __init__(
        self, view: CatalogView, unavailable: dict[str, str], instructions: dict[str, str]
    ) -> None:
        from .._engine import mcp_names

        self.unavailable = unavailable
        self._instructions = instructions
        servers: dict[str, _Server] = {}
        for tool_id, tool in view.mcp:
            owner = str(tool.owner)
            server = servers.setdefault(owner, _Server(owner))
            if isinstance(tool.execute, McpHelper):
                group, name = tool.execute.path
                server.helpers.setdefault(group, {})[name] = tool_id
            else:
                server.tools.append((tool_id, tool))
        for owner, reason in unavailable.items():
            servers.setdefault(owner, _Server(owner, unavailable=reason))
        self._servers = [servers[name] for name in sorted(servers)]
        named = mcp_names([(s.name, [t.name for _, t in s.tools]) for s in self._servers])
        for server, (key, alias, tools) in zip(self._servers, named, strict=True):
            server.key, server.alias, server.names = key, alias, tools
        self._blob: bytes | None = None
        self._texts: dict[str, str] = {}

    def names_blob(self) -> bytes:
        """The names of all servers and tools, encoded once."""
        if self._blob is None:
            from .._engine import encode

            self._blob = encode([self._entry(server) for server in self._servers])
        return self._blob

    def _entry(self, server: _Server) -> dict[str, Any]:
        ids = (tool_id for tool_id, _ in server.tools)
        tools = [[*names, tool_id] for names, tool_id in zip(server.names, ids, strict=True)]
        entry = {"key": server.key, "name": server.alias, "tools": tools, **server.helpers}
        return entry if server.unavailable is None else entry | {"unavailable": server.unavailable}

    def files(self) -> list[dict[str, Any]]:
        """All files, with their sizes in bytes."""
        return [self._file(path) for path in self._paths()]

    def read(self, path: str) -> dict[str, Any] | None:
        """One file with its content, or None if there is none of that path."""
        if path not in self._paths():
            return None
        return self._file(path) | {"content": self._text(path)}

    def _paths(self) -> dict[str, _Server | None]:
        return {INDEX: None, **{f"mcp/{s.key}.d.ts": s for s in self._servers}}

    def _file(self, path: str) -> dict[str, Any]:
        server = self._paths()[path]
        if server is None:
            description = "The MCP servers and how to call their tools."
        elif server.unavailable is not None:
            description = f"MCP server {server.name}: unavailable."
        else:
            description = f"MCP server {server.name}: {len(server.tools)} tools."
        size = len(self._text(path).encode())
        return {"path": path, "description": description, "bytes": size}

    def _text(self, path: str) -> str:
        if path not in self._texts:
            self._texts[path] = self._render(self._paths()[path])
        return self._texts[path]

    def _render(self, server: _Server | None) -> str:
        from .._engine import mcp_index_dts, mcp_server_dts

        if server is None:
            return mcp_index_dts(
                [(s.key, s.name, [key for key, _ in s.names], s.unavailable) for s in self._servers]
            )
        if server.unavailable is not None:
            # As JSON: whatever the reason holds, it stays inside the comment.
            name, why = json.dumps(server.name), json.dumps(server.unavailable)
            return f"// MCP server {name} is unavailable: {why}\n"
        return mcp_server_dts(
            server.key,
            server.name,
            [
                _declaration(names, tool)
                for names, (_, tool) in zip(server.names, server.tools, strict=True)
            ],
            resources="resources" in server.helpers,
            prompts="prompts" in server.helpers,
            instructions=self._instructions.get(server.name, ""),
        )

    def header(self, key: str, tool: object, *, schema: bool) -> dict[str, Any]:
        """What `$api` gives.

        Raises:
            GuestError: There is no such server or tool.
        """
        from .._engine import mcp_signature

        server = next((s for s in self._servers if key in (s.key, s.name)), None)
        if server is None:
            raise GuestError(f"There is no MCP server {key[:80]!r} in this run.")
        out: dict[str, Any] = {"server": server.name, "tools": []}
        if server.unavailable is not None:
            out["unavailable"] = server.unavailable
        for names, (_, entry) in zip(server.names, server.tools, strict=True):
            if tool is not None and tool not in (*names, entry.name):
                continue
            header = {
                "name": entry.name,
                "key": names[0],
                "description": entry.description,
                "signature": mcp_signature(_declaration(names, entry)),
            }
            if schema:
                header["inputSchema"] = entry.parameters
                if entry.output_schema is not None:
                    header["outputSchema"] = entry.output_schema
            out["tools"].append(header)
        if tool is not None and not out["tools"]:
            raise GuestError(self._no_tool(server, tool))
        return out

    def _no_tool(self, server: _Server, tool: object) -> str:
        keys = [key for key, _ in server.names]
        near = difflib.get_close_matches(str(tool)[:80], keys, 3, 0.5)
        meant = f" Did you mean {' or '.join(near)}?" if near else ""
        return (
            f"MCP.{server.key} has no tool {json.dumps(str(tool)[:80])}.{meant} "
            f"await MCP.{server.key}.$api() lists its tools."
        )


def _is_word(name: str, code: str) -> bool:
    return re.search(rf"(?<![\w$]){re.escape(name)}(?![\w$])", code) is not None


def _declaration(
    names: tuple[str, str], tool: Tool
) -> tuple[str, str, str, str | None, str | None]:
    return names[0], tool.name, tool.description, tool.parameters_json, tool.output_json
