"""What MCP servers answer, as plain data for the guest (mcp.2).

Everything here takes raw, untrusted JSON and never raises: a shape that is not known is kept as
far as it is harmless. `_meta` and `annotations` of the protocol are dropped; `structuredContent`
is the tool's own value and is left alone. Binary data never crosses: where it was, there is
`{type, mimeType, bytes, omitted: true}` with the size of the decoded data.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from codemode.blocks import BINARY, omitted

NO_MESSAGE = "The tool reported an error without a message."

_HIDDEN = ("_meta", "annotations", "icons", "execution")
_OF_A_CALL = ("_meta", "content", "structuredContent", "isError", "resultType")


def call_result(raw: object) -> dict[str, Any]:
    """Converts the result of `tools/call`.

    Returns:
        `{content, structuredContent?, isError?}`; `isError` only if true. An error without any
        text gets a generic one. A result of a form of its own is the structured content.
    """
    result = raw if isinstance(raw, Mapping) else {}
    out: dict[str, Any] = {"content": _items(result.get("content"))}
    if (structured := structured_content(result)) is not None:
        out["structuredContent"] = structured
    if result.get("isError"):
        out["isError"] = True
        if not any(i.get("text") for i in out["content"] if i.get("type") == "text"):
            out["content"].append({"type": "text", "text": NO_MESSAGE})
    return out


def structured_content(result: Mapping[str, Any]) -> Any:
    """The tool's own value, or None; what stands in the place of both content and value."""
    value = result.get("structuredContent")
    if value is None and result.get("content") is None:
        return {k: v for k, v in result.items() if k not in _OF_A_CALL} or None
    return value


def blocks(content: object) -> list[Mapping[str, Any]]:
    """The content items of a result as they are, whole."""
    if isinstance(content, str):
        # Some servers answer the text itself.
        return [{"type": "text", "text": content}]
    return _objects([content] if isinstance(content, Mapping) else content)


def read_result(raw: object) -> dict[str, Any]:
    """Converts the result of `resources/read`.

    Returns:
        `{contents: [{uri, mimeType?, text} | {uri, mimeType, bytes, omitted: true}]}`.
    """
    result = raw if isinstance(raw, Mapping) else {}
    return {"contents": [_contents(c) for c in _objects(result.get("contents"))]}


def prompt_result(raw: object) -> dict[str, Any]:
    """Converts the result of `prompts/get`.

    Returns:
        `{description?, messages: [{role, content}]}`; `content` as an item of a tool's result.
    """
    result = raw if isinstance(raw, Mapping) else {}
    out: dict[str, Any] = {}
    if isinstance(result.get("description"), str):
        out["description"] = result["description"]
    out["messages"] = [
        {"role": m.get("role"), "content": _message_content(m.get("content"))}
        for m in _objects(result.get("messages"))
    ]
    return out


def listing(items: object) -> list[dict[str, Any]]:
    """Converts the entries of `resources/list`, `resources/templates/list` or `prompts/list`."""
    return [_visible(i) for i in _objects(items)]


def _message_content(content: object) -> Any:
    if isinstance(content, list):
        return _items(content)
    return _item(content) if isinstance(content, Mapping) else {"type": "text", "text": ""}


def _items(content: object) -> list[dict[str, Any]]:
    return [_item(i) for i in blocks(content)]


def _item(item: Mapping[str, Any]) -> dict[str, Any]:
    kind = item.get("type")
    if kind in BINARY or (kind != "text" and isinstance(item.get("data"), str)):
        return omitted(kind, item.get("mimeType"), item.get("data"))
    if kind == "resource" and isinstance(item.get("resource"), Mapping):
        resource = item["resource"]
        if "blob" not in resource:
            return {"type": "resource", "resource": _visible(resource)}
        out: dict[str, Any] = {"type": "resource", "resource": {"uri": resource.get("uri")}}
        return out | omitted(kind, resource.get("mimeType"), resource["blob"])
    return _visible(item)


def _contents(item: Mapping[str, Any]) -> dict[str, Any]:
    if "blob" not in item:
        return _visible(item)
    marker = omitted(None, item.get("mimeType"), item["blob"])
    del marker["type"]
    return {"uri": item.get("uri")} | marker


def _visible(item: Mapping[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in item.items() if k not in _HIDDEN}


def _objects(items: object) -> list[Mapping[str, Any]]:
    return [i for i in items if isinstance(i, Mapping)] if isinstance(items, list) else []
