"""`nodes`: the host's paired devices, over its ordinary `nodes` tool (ns.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..call import GuestError

if TYPE_CHECKING:
    from ..call import Call
    from ..catalog import CatalogView
    from ..executor import Executor
    from ..tools import Tool

LIST_DIR = "fs.listDir"


class Nodes:
    """Shows `nodes` to guests of runs that have the tool `nodes`.

    That tool takes `{action: "list"}` and gives a list of `{id, name, platform?, connected?,
    commands: string[]}`, and `{action: "invoke", node: id, command, params?}` and gives what the
    command gave. Every use of `nodes` is a call of it, with policy, hooks and approval.
    """

    ops = frozenset({"nodes.list", "nodes.get", "nodes.invoke"})

    def __init__(self, tool_name: str = "nodes") -> None:
        """Uses the native tool of this name."""
        self._name = tool_name

    def globals(self, view: CatalogView) -> Mapping[str, Any]:
        """`nodes` exists only with its tool."""
        return {"nodes": self._find(view) is not None}

    def fetch(self, kind: int, argument: str, view: CatalogView) -> Any:  # noqa: ARG002
        """Nothing is fetched."""
        return NotImplemented

    async def call(self, call: Call, executor: Executor, view: CatalogView) -> Any:
        """Serves `nodes.list()`, `nodes.get(idOrName)` and `invoke` of a handle.

        Raises:
            GuestError: There is no such node, or the tool failed.
        """
        found = self._find(view)
        if found is None:
            raise GuestError("This run has no nodes.")
        given = call.arguments if isinstance(call.arguments, Mapping) else {}
        if call.op == "nodes.invoke":
            if not isinstance(given.get("command"), str):
                raise GuestError("invoke(command, params): command must be a string")
            call.arguments = {
                "action": "invoke",
                **{k: given[k] for k in ("node", "command", "params") if given.get(k) is not None},
            }
            return await executor.call_tool(call, *found, view)
        call.arguments = {"action": "list"}
        nodes = _nodes(await executor.call_tool(call, *found, view))
        return nodes if call.op == "nodes.list" else _one(nodes, given.get("node"))

    def _find(self, view: CatalogView) -> tuple[str, Tool] | None:
        found = [(i, t) for i, t in view.guest if t.is_native and t.name == self._name]
        return found[0] if len(found) == 1 else None


def _nodes(value: Any) -> list[dict[str, Any]]:
    if isinstance(value, Mapping):
        value = value.get("nodes")
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise GuestError("the nodes tool gave no list of nodes")
    return [dict(node) for node in value if isinstance(node, Mapping) and "id" in node]


def _one(nodes: list[dict[str, Any]], wanted: Any) -> dict[str, Any]:
    """What the guest makes a handle of. An exact id goes before a display name."""
    found = [n for n in nodes if n["id"] == wanted] or [n for n in nodes if n.get("name") == wanted]
    if len(found) != 1:
        ids = ", ".join(str(node["id"])[:80] for node in (found or nodes)[:10]) or "none"
        what = "is the name of several nodes" if found else "is no node"
        raise GuestError(f"nodes.get: {str(wanted)[:80]!r} {what}; ids: {ids}")
    node = found[0]
    return {
        "id": str(node["id"]),
        "name": str(node.get("name") or node["id"]),
        "listDir": LIST_DIR in (node.get("commands") or ()),
    }
