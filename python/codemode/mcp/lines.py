"""The lines of a stdio connection as messages, also those that the SDK's models refuse.

A line that is dropped leaves its caller waiting for the whole timeout. So an answer with a slip in
its form is taken as it is meant, and one that cannot be read is an error for the one who asked.
"""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any

import mcp_types as types
from pydantic import ValidationError

MAX_LINE_BYTES = 64 * 1024 * 1024

# What is kept of both ends of a line over the limit: room for its id.
_END_BYTES = 1024
_UNREADABLE = "its answer could not be read: "

# In a text that is no JSON only these places are certain to be the id of the answer itself.
_VERSION = r'"jsonrpc"\s*:\s*"2\.0"\s*'
_ID = r'"id"\s*:\s*(\d{1,18}|"[^"\\]*")\s*'
_IN_HEAD = re.compile(
    rf'\s*\{{\s*(?:{_VERSION},\s*)?{_ID},\s*(?:{_VERSION},\s*)?(?:"(?:result|error)"\s*:|\Z)'
)
_OPENING = re.compile(rf'\s*\{{\s*(?:{_VERSION},\s*)?"(?:result|error)"\s*:')
_IN_TAIL = re.compile(rf",\s*{_ID}(?:,\s*{_VERSION})?\}}\s*\Z")


class LongLine:
    """The two ends of a line over the limit."""

    def __init__(self, head: bytes, tail: bytes) -> None:
        """Keeps what may hold the id."""
        self.head = head
        self.tail = tail


async def next_line(stream: asyncio.StreamReader) -> bytes | LongLine:
    """The next line, or nothing at the end. A line over the limit is not kept in memory."""
    long: LongLine | None = None
    while True:
        try:
            line = await stream.readuntil()
        except asyncio.LimitOverrunError as error:
            part = await stream.readexactly(error.consumed)
            long = long or LongLine(part[:_END_BYTES], b"")
            long.tail = (long.tail + part[-_END_BYTES:])[-_END_BYTES:]
            continue
        except asyncio.IncompleteReadError as error:
            line = error.partial
        if long is not None:
            long.tail = (long.tail + line)[-_END_BYTES:]
        return long or line


def messages(line: bytes | LongLine) -> list[types.JSONRPCMessage]:
    """What a line says: one message, several of a batch, or none if it is no protocol."""
    if isinstance(line, LongLine):
        return _refusal(line.head, line.tail, f"it is over {MAX_LINE_BYTES >> 20} MiB")
    try:
        return [types.jsonrpc_message_adapter.validate_json(line, by_name=False)]
    except ValidationError:
        pass
    try:
        found = json.loads(line.decode("utf-8-sig"))
    except RecursionError:
        return _refusal(line, line, "it is nested too deep")
    except ValueError as error:
        return _refusal(line, line, str(error).partition(";")[0])
    read = [_meant(item) for item in (found if isinstance(found, list) else [found])]
    return [message for message in read if message is not None]


def _meant(item: object) -> types.JSONRPCMessage | None:
    """A message with a slip: without `jsonrpc`, deep, with an error or a result of an odd form."""
    try:
        return types.jsonrpc_message_adapter.validate_python(item, by_name=False)
    except ValidationError:
        pass
    if not isinstance(item, dict) or "method" in item or not item.keys() & {"result", "error"}:
        return None
    answered, result, error = (item.get(key) for key in ("id", "result", "error"))
    if type(answered) is not int and not (isinstance(answered, str) and answered.isascii()):
        return None
    if error is not None:
        return _error(answered, error)
    if isinstance(result, dict):
        return types.JSONRPCResponse(jsonrpc="2.0", id=answered, result=result)
    if "result" in item and result is None:
        # Nothing was said, and nothing is lost.
        return types.JSONRPCResponse(jsonrpc="2.0", id=answered, result={})
    return _error(answered, f"{_UNREADABLE}its result is {_short(result)}, which is no object")


def _refusal(head: bytes, tail: bytes, why: str) -> list[types.JSONRPCMessage]:
    """An error for the one who waits for a text that is no JSON, if it says who that is."""
    first, last = (
        part.decode("utf-8", "replace").removeprefix("\ufeff")
        for part in (head[:_END_BYTES], tail[-_END_BYTES:])
    )
    found = _IN_HEAD.match(first)
    if found is None and _OPENING.match(first):
        found = _IN_TAIL.search(last)
    return [] if found is None else [_error(json.loads(found[1]), _UNREADABLE + why)]


def _error(answered: int | str, error: object) -> types.JSONRPCError:
    code, words = types.INTERNAL_ERROR, error
    if isinstance(error, dict):
        words = error.get("message", error)
        given = error.get("code")
        code = given if type(given) is int else code
    text = words if isinstance(words, str) else _short(words)
    # A lone surrogate is a character in JSON, and none for the model.
    text = text.encode("utf-8", "replace").decode()
    data = types.ErrorData(code=code, message=text)
    return types.JSONRPCError(jsonrpc="2.0", id=answered, error=data)


def _short(value: Any) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False)
    except RecursionError:
        return "a deeply nested value"
    return text if len(text) <= 200 else f"{text[:200]}…"
