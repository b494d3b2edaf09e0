"""Content blocks of results: what of them may cross into a program."""

from __future__ import annotations

from typing import Any

BINARY = ("image", "audio")


def binary_size(data: object) -> int:
    """Bytes that base64 text stands for, without decoding it."""
    if not isinstance(data, str):
        return 0
    return max(0, len(data) * 3 // 4 - data[-2:].count("="))


def omitted(kind: object, mime: object, data: object) -> dict[str, Any]:
    """What stands for binary data, which only a model can use and only where it is shown to it.

    Args:
        kind: Type of the block.
        mime: Media type, if it is text.
        data: Base64 text.

    Returns:
        `{type, mimeType, bytes, omitted: true}` with the size of the decoded data.
    """
    return {
        "type": kind,
        "mimeType": mime if isinstance(mime, str) else "application/octet-stream",
        "bytes": binary_size(data),
        "omitted": True,
    }


def without_binary(content: Any) -> Any:
    """A copy of a list of blocks without the data of images and sounds; the list itself if none.

    Args:
        content: What stands in a result as `content`, whatever it is.
    """
    if not isinstance(content, list) or not any(map(_is_binary, content)):
        return content
    return [
        omitted(block["type"], block.get("mimeType"), block["data"]) if _is_binary(block) else block
        for block in content
    ]


def _is_binary(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") in BINARY and "data" in block
