"""The catalog of a run: what the guest can find and call (cat.1 to cat.6, cat.11)."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, Any

from .native import engine
from .tools import CLIENT, MCP, Tool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_log = logging.getLogger("codemode")

SEARCH_CONTROLS = frozenset({"tool_search_code", "tool_search", "tool_describe", "tool_call"})
HELPERS = ("search", "describe", "call", "callValue")
# Names that would make `tools` look like a promise, or hide what every object has.
RESERVED = (
    *HELPERS,
    "then",
    "catch",
    "finally",
    "constructor",
    "prototype",
    "__proto__",
    "hasOwnProperty",
    "isPrototypeOf",
    "propertyIsEnumerable",
    "toJSON",
    "toLocaleString",
    "toString",
    "valueOf",
)
QUICK_INDEX_BUDGET = 8_000

_MAX_BLOB = 256 << 20


class LookupFailed(Exception):
    """No tool, or more than one; the text tells the guest what to do."""


class CatalogView:
    """One version of a catalog. It does not change; a suspended cell keeps the one it had.

    Attributes:
        tools: All tools of this version that are no control tools, as given.
        direct: Direct-only tools.
        native: Names of native tools.
        guest: `(id, tool)` of what ALL_TOOLS shows, by id.
        mcp: `(id, tool)` of what MCP shows, by id.
        warnings: What was wrong with the tools, for the host.
        sources: Number of entries by kind.
    """

    def __init__(self, tools: tuple[Tool, ...], native_source: str) -> None:
        """Sorts the tools; the search index is built when it is first needed."""
        self.native_source = native_source
        self.tools = tools
        notes: list[str] = []
        ids = _assign_ids(tools, native_source, notes)
        listed = sorted((i, t) for i, t in ids.items() if not t.direct_only)
        self.direct = tuple(t for t in tools if t.direct_only and t.name.strip())
        self.guest = tuple((i, t) for i, t in listed if t.source != MCP)
        self.mcp = tuple((i, t) for i, t in listed if t.source == MCP)
        self.warnings = tuple(notes)
        self.sources = {
            "openclaw": sum(t.is_native for _, t in self.guest),
            "mcp": len(self.mcp),
            "client": sum(t.source == CLIENT for _, t in self.guest),
        }
        self._by_id = dict(self.guest)
        self._ids = {tool: tool_id for tool_id, tool in ids.items()}
        self._mcp_by_id = dict(self.mcp)
        self._position = {tool_id: n for n, (tool_id, _) in enumerate(self.guest)}
        self._direct_ids = {i: t for i, t in ids.items() if t.direct_only}
        self._by_name: dict[str, list[str]] = {}
        for tool_id, tool in self.guest:
            self._by_name.setdefault(tool.name, []).append(tool_id)
        self.native = frozenset(t.name for t in tools if t.is_native)
        # What a model may see of itself, by name, in the order of `tools`.
        self._showable: dict[str, list[Tool]] = {}
        for tool in tools:
            if (tool.direct_only or tool.is_native) and not is_control(tool):
                self._showable.setdefault(tool.name, []).append(tool)
        self._direct_names = frozenset(
            name for name, group in self._showable.items() if any(t.direct_only for t in group)
        )
        self._quick_index: tuple[int, tuple[str, int, int]] | None = None
        self._index: Any = None
        self._entries: list[dict[str, Any]] | None = None
        self._blobs: dict[str, bytes] = {}
        self._checks: dict[tuple[Callable[[str], Any], Tool], Callable[[Any], Any]] = {}
        for note in notes:
            _log.warning("codemode: %s", note)

    @property
    def index(self) -> Any:
        """The native `CatalogIndex` over `guest`."""
        if self._index is None:
            self._index = engine().CatalogIndex(
                [
                    (
                        tool_id,
                        tool.name,
                        tool.label,
                        tool.description,
                        _source(tool, self.native_source),
                        tool.parameters_json,
                        tool.output_json if tool.is_native else None,
                    )
                    for tool_id, tool in self.guest
                ]
            )
        return self._index

    def quick_index(self, budget: int) -> tuple[str, int, int]:
        """`CatalogIndex.quick_index`; the text of a view is the same for each of its runs."""
        if self._quick_index is None or self._quick_index[0] != budget:
            self._quick_index = (budget, self.index.quick_index(budget))
        return self._quick_index[1]

    def shown(self, visible: frozenset[str]) -> dict[str, Tool]:
        """Tools that the model sees itself, by name: direct-only ones, native ones in `visible`.

        Of tools with the same name the last one counts.
        """
        found: dict[str, Tool] = {}
        for name in sorted(self._direct_names | (visible & self._showable.keys())):
            group = self._showable[name]
            fits = [t for t in group if t.direct_only or (t.is_native and name in visible)]
            if fits:
                found[name] = fits[-1]
        return found

    @property
    def entries(self) -> list[dict[str, Any]]:
        """Compact entries (cat.3) in the order of `guest`."""
        if self._entries is None:
            hints = self.index.hints()
            self._entries = [
                self._entry(tool_id, tool, hint)
                for (tool_id, tool), hint in zip(self.guest, hints, strict=True)
            ]
        return self._entries

    def _entry(self, tool_id: str, tool: Tool, hint: tuple[str, str | None]) -> dict[str, Any]:
        entry: dict[str, Any] = {"id": tool_id, "name": tool.name}
        if tool.label:
            entry["label"] = tool.label
        entry["description"] = tool.description
        entry["source"] = _source(tool, self.native_source)
        if tool.owner:
            entry["sourceName"] = tool.owner
        entry["input"] = hint[0] if tool.is_native else "unknown"
        if tool.is_native and hint[1] is not None:
            entry["output"] = hint[1]
        return entry

    def entry(self, tool_id: str) -> dict[str, Any]:
        """The compact entry of a known id (a short one for MCP tools)."""
        n = self._position.get(tool_id)
        if n is None:
            tool = self._mcp_by_id[tool_id]
            return {"id": tool_id, "name": tool.name, "source": MCP, "sourceName": tool.owner}
        return self.entries[n]

    def resolve(self, target: str) -> tuple[str, Tool]:
        """Finds a tool by exact id, then by unique exact name (cat.4).

        Raises:
            LookupFailed: Unknown, ambiguous, or not callable this way.
        """
        tool = self._by_id.get(target)
        if tool is not None:
            return target, tool
        ids = self._by_name.get(target, ())
        if len(ids) == 1:
            return ids[0], self._by_id[ids[0]]
        if ids:
            listed = ", ".join(_quote(i) for i in ids)
            raise LookupFailed(
                f"{_quote(target)} names {len(ids)} tools: {listed}. Use one of these ids."
            )
        raise LookupFailed(self._unknown(target))

    def resolve_mcp(self, target: str) -> tuple[str, Tool]:
        """Finds an MCP tool by exact id (mcp.4).

        Raises:
            LookupFailed: There is none.
        """
        tool = self._mcp_by_id.get(target)
        if tool is None:
            raise LookupFailed(f"There is no MCP tool {_quote(target)} in this run.")
        return target, tool

    def is_exact_id(self, target: str) -> bool:
        """Whether `target` is the id of a guest or MCP tool."""
        return target in self._by_id or target in self._mcp_by_id

    def _unknown(self, target: str) -> str:
        if target in self._mcp_by_id or any(t.name == target for _, t in self.mcp):
            return (
                f"{_quote(target)} is an MCP tool: call it as MCP.<server>.<tool>({{...}}); "
                'await API.list("mcp") lists the declarations.'
            )
        if target in self._direct_ids or any(t.name == target for t in self.direct):
            return (
                f"{_quote(target)} cannot be called from code, because its result is no JSON. "
                "Call it as a tool of its own, outside exec."
            )
        near = self.index.suggest(target)[:3]
        meant = f" Did you mean {' or '.join(_quote(i) for i in near)}?" if near else ""
        return (
            f"There is no tool {_quote(target)}.{meant} "
            'Use await tools.search("what you need") to find tools, then '
            "await tools.callValue(id, input)."
        )

    def search(self, query: str, limit: int) -> list[dict[str, Any]]:
        """Compact entries, best first (cat.6); the first page by id for a blank query, or `*`."""
        if not query.strip().strip("*?%."):
            return self.entries[:limit]
        entries = self.entries
        return [entries[n] for n in self.index.search(query, limit)]

    def describe(self, target: str) -> dict[str, Any]:
        """An entry with its schemas.

        Raises:
            LookupFailed: As in `resolve`.
        """
        tool_id, tool = self.resolve(target)
        out = dict(self.entry(tool_id))
        out["parameters"] = _schema(tool.parameters_json, {"type": "object"})
        if tool.is_native and tool.output_json is not None:
            out["outputSchema"] = _schema(tool.output_json, None)
        return out

    def catalog_blob(self) -> bytes:
        """`ALL_TOOLS`, encoded once."""
        return self._blob("catalog", lambda: self.entries)

    def names_blob(self) -> bytes:
        """Convenience names (cat.5), encoded once."""
        return self._blob("names", self._names)

    def _names(self) -> list[list[Any]]:
        out: list[list[Any]] = []
        for safe, n, clash in self.index.safe_names(list(RESERVED)):
            out.append([safe, None, list(clash)] if n is None else [safe, self.guest[n][0]])
        # The others are no properties, but the guest is told their ids when it asks for them.
        told = {name for name, *_ in out}
        callable_ids = {entry[1] for entry in out}
        for name, ids in self._by_name.items():
            if name not in told and callable_ids.isdisjoint(ids):
                out.append([name, None, ids])
        return out

    def _blob(self, key: str, make: Callable[[], Any]) -> bytes:
        blob = self._blobs.get(key)
        if blob is None:
            blob = self._blobs[key] = engine().encode(make(), _MAX_BLOB)
        return blob

    def id_of(self, tool: Tool) -> str:
        """The id of a tool of this view."""
        return self._ids[tool]

    def input_check(self, tool: Tool) -> Callable[[Any], Any] | None:
        """What checks and coerces inputs of a native tool; None where the tool does it itself.

        It is total: what a schema says that makes no sense is ignored.
        """
        return self._check(_input_check, tool, tool.parameters_json)

    def output_check(self, tool: Tool) -> Callable[[Any], None] | None:
        """What checks results of a native tool; None where nothing was declared.

        Raises:
            ValueError: What was declared is no valid schema.
        """
        return self._check(_output_check, tool, tool.output_json)

    def _check(
        self, make: Callable[[str], Any], tool: Tool, schema: str | None
    ) -> Callable[[Any], Any] | None:
        if schema is None or not tool.is_native:
            return None
        key = make, tool
        if key not in self._checks:
            self._checks[key] = make(schema)
        return self._checks[key]

    def input_hint(self, tool_id: str) -> str:
        """What the entry shows as input."""
        hint: str = self.entry(tool_id).get("input", "unknown")
        return hint


class CatalogCache:
    """Views by their tools, so that an unchanged tool list costs nothing to catalog again."""

    def __init__(self, size: int = 16) -> None:
        """Keeps the `size` views used last."""
        self._size = size
        self._views: dict[tuple[str, tuple[Tool, ...]], CatalogView] = {}

    def view(self, tools: Iterable[Tool], native_source: str) -> CatalogView:
        """The view of these tools; the same object for the same tools."""
        key = (native_source, tuple(tools))
        view = self._views.pop(key, None)
        if view is None:
            view = CatalogView(key[1], native_source)
        self._views[key] = view
        while len(self._views) > self._size:
            del self._views[next(iter(self._views))]
        return view


def is_control(tool: Tool) -> bool:
    """Whether it belongs to the tool-search surface that code mode replaces."""
    return tool.is_native and tool.name in SEARCH_CONTROLS


def _source(tool: Tool, native_source: str) -> str:
    return native_source if tool.is_native else str(tool.source)


def _rank(tool: Tool) -> int:
    if tool.source == CLIENT:
        return 3
    if tool.source == MCP:
        return 2
    return 0 if tool.owner == "core" else 1


def _assign_ids(tools: tuple[Tool, ...], native_source: str, notes: list[str]) -> dict[str, Tool]:
    """Ids in the order of collection (cat.1); no tool ever hides another."""
    groups: dict[str, list[Tool]] = {}
    for tool in sorted(tools, key=_rank):
        source = _source(tool, native_source)
        if is_control(tool):
            continue
        if not tool.name.strip():
            notes.append(f"a tool of {source}:{tool.owner} has no name and was dropped")
            continue
        groups.setdefault(f"{source}:{tool.owner}:{tool.name}", []).append(tool)
    ids: dict[str, Tool] = {}
    for tool_id, group in groups.items():
        if len(group) == 1:
            ids[tool_id] = group[0]
            continue
        # Ordered by content, so that the ids do not depend on the order of the list.
        unique = sorted(set(group), key=lambda t: (t.description, t.parameters_json or ""))
        for n, tool in enumerate(unique, 1):
            ids[tool_id if n == 1 else f"{tool_id}~{n}"] = tool
        notes.append(f"{len(group)} tools share the id {tool_id}; later ones got ~2, ~3, …")
    return ids


def _input_check(schema: str) -> Any:
    return engine().Validator.for_input(schema).check_input


def _output_check(schema: str) -> Any:
    return engine().Validator(schema).check_output


def _schema(text: str | None, absent: Any) -> Any:
    return absent if text is None else json.loads(text)


def _quote(text: str) -> str:
    shown = json.dumps(text, ensure_ascii=False)
    return shown if len(shown) <= 120 else shown[:116] + '…"'
