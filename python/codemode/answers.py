"""What a cell is told of its run: which globals it has, and catalog text when it looks at it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .native import engine

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .catalog import CatalogView
    from .executor import Extension

_FETCH_CATALOG, _FETCH_NAMES, _FETCH_API_LIST, _FETCH_API_READ, _FETCH_MCP = range(1, 6)
_NOTHING: dict[int, Any] = {_FETCH_API_LIST: [], _FETCH_API_READ: None, _FETCH_MCP: {}}


def features(extensions: Iterable[Extension], view: CatalogView) -> dict[str, Any]:
    """`globals` of a cell that starts with `view`; says which optional parts exist."""
    found: dict[str, Any] = {"mcp": False, "nodes": False, "swarm": False, "namespaces": {}}
    for extension in extensions:
        found.update(extension.globals(view))
    return found


def answer(extensions: Iterable[Extension], view: CatalogView, kind: int, argument: str) -> bytes:
    """Answers a question of the worker (`FetchKind`), encoded."""
    if kind == _FETCH_CATALOG:
        return view.catalog_blob()
    if kind == _FETCH_NAMES:
        return view.names_blob()
    if kind == _FETCH_API_LIST:
        lists = (e.fetch(kind, argument, view) for e in extensions)
        return encoded([file for files in lists if files is not NotImplemented for file in files])
    for extension in extensions:
        value = extension.fetch(kind, argument, view)
        if value is not NotImplemented:
            return value if isinstance(value, bytes) else encoded(value)
    return encoded(_NOTHING[kind])


def encoded(value: Any) -> bytes:
    """A value of our own for the guest."""
    text: bytes = engine().encode(value)
    return text
