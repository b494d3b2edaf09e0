"""What is known of the servers at one moment. Never changes: a suspended cell keeps its view."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from .config import ServerConfig

Status = Literal["ready", "starting", "unavailable"]


@dataclass(frozen=True, slots=True, kw_only=True)
class McpTool:
    """A tool as its server described it; untrusted text and schemas.

    Attributes:
        name: Its name, exactly as the server spells it.
        description: The server's own words, perhaps empty.
        input_schema: What the server sent, which may be anything.
        output_schema: The same, or None.
        direct: Whether the model calls it itself.
    """

    name: str
    description: str = ""
    input_schema: Any = None
    output_schema: Any = None
    direct: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerView:
    """One server at one moment.

    Attributes:
        name: From the configuration.
        status: `"ready"` also for a server that was ready once and is restarted on its next use.
        reason: Why it is not ready, else empty.
        tools: In the server's order; names are unique and not blank.
        resources: Whether it has resources.
        prompts: Whether it has prompts.
        instructions: The server's own words on how to use it; untrusted.
        notes: What of its lists was dropped or cut, and why.
    """

    name: str
    status: Status = "starting"
    reason: str = ""
    tools: tuple[McpTool, ...] = ()
    resources: bool = False
    prompts: bool = False
    instructions: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class McpSnapshot:
    """All servers at one moment.

    Attributes:
        version: Grows with every change.
        servers: In the order of the configuration.
    """

    version: int = 0
    servers: tuple[ServerView, ...] = field(default=())

    def server(self, name: str) -> ServerView | None:
        """The server of that name."""
        return next((s for s in self.servers if s.name == name), None)

    @property
    def unavailable(self) -> dict[str, str]:
        """Servers that have nothing to offer now, with the reason."""
        return {s.name: s.reason or s.status for s in self.servers if s.status != "ready"}

    @property
    def instructions(self) -> dict[str, str]:
        """What servers say of their own use; untrusted."""
        return {s.name: s.instructions for s in self.servers if s.instructions}


def read_tools(
    config: ServerConfig, entries: Iterable[object]
) -> tuple[tuple[McpTool, ...], list[str]]:
    """Reads the raw entries of `tools/list`; a bad one never removes its neighbours.

    Returns:
        The tools that the configuration lets through, and a sentence for each one dropped.
    """
    tools: dict[str, McpTool] = {}
    notes: list[str] = []
    for entry in entries:
        name = entry.get("name") if isinstance(entry, Mapping) else None
        if not isinstance(entry, Mapping) or not isinstance(name, str) or not name.strip():
            notes.append("a tool without a name was dropped")
        elif name in tools:
            notes.append(f"the tool {name[:60]!r} is listed twice; the first one counts")
        elif config.offers(name):
            description = entry.get("description")
            tools[name] = McpTool(
                name=name,
                description=description if isinstance(description, str) else "",
                input_schema=entry.get("inputSchema"),
                output_schema=entry.get("outputSchema"),
                direct=config.is_direct(name),
            )
    return tuple(tools.values()), notes
