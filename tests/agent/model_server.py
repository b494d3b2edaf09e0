"""A model behind real HTTP on loopback, in three wire formats, streamed."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

USAGE = {"input": 70, "cached": 30, "output": 20}


class ModelServer:
    """Answers requests from a script.

    A turn is `{"text"?, "calls"?: [(name, input)], "status"?: int, "cut"?: events that are left
    out at the end}`, an `asyncio.Event` (which is set, and no answer comes) or a function of the
    request body that gives one.

    Given a status, the answer is that error; `retry-after` is next to nothing.

    Attributes:
        requests: `(path, body)` of each request.
        url: Where it listens.
        hung_up: Whether a client went away while it waited.
    """

    def __init__(self, *turns: Any) -> None:
        self.requests: list[tuple[str, dict[str, Any]]] = []
        self.url = ""
        self.hung_up = False
        self._turns = list(turns)
        self._calls = 0
        self._server: asyncio.Server | None = None

    async def __aenter__(self) -> ModelServer:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        port = self._server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
            length = next(
                int(line.split(":")[1])
                for line in head
                if line.lower().startswith("content-length")
            )
            body = json.loads(await reader.readexactly(length))
            path = head[0].split()[1]
            self.requests.append((path, body))
            turn = self._turns.pop(0)
            if callable(turn):
                turn = turn(body)
            if isinstance(turn, asyncio.Event):
                turn.set()
                # Until the client hangs up.
                self.hung_up = await reader.read() == b""
            elif turn.get("status"):
                error = json.dumps({"error": {"type": "invalid_request_error", "message": "no"}})
                writer.write(
                    f"HTTP/1.1 {turn['status']} No\r\ncontent-type: application/json\r\n"
                    f"retry-after: 0.01\r\n"
                    f"content-length: {len(error)}\r\nconnection: close\r\n\r\n{error}".encode()
                )
            else:
                assert body["stream"] is True
                writer.write(
                    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
                    b"connection: close\r\n\r\n"
                )
                calls = [self._call(name, given) for name, given in turn.get("calls", ())]
                events = list(_FORMATS[path](turn.get("text", ""), calls))
                for event in events[: len(events) - turn.get("cut", 0)]:
                    writer.write(event.encode())
                    await writer.drain()
        finally:
            writer.close()

    def _call(self, name: str, given: Any) -> tuple[str, str, str]:
        self._calls += 1
        text = given if isinstance(given, str) else json.dumps(given)
        return f"call_{self._calls}", name, text


def _halves(text: str) -> tuple[str, str]:
    return text[: len(text) // 2], text[len(text) // 2 :]


def _named(event: dict[str, Any]) -> str:
    return f"event: {event['type']}\ndata: {json.dumps(event)}\n\n"


def _responses(text: str, calls: list[tuple[str, str, str]]) -> Iterator[str]:
    output: list[dict[str, Any]] = [
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "c2VjcmV0"}
    ]
    number = 0

    def event(kind: str, **more: Any) -> str:
        nonlocal number
        number += 1
        return _named({"type": kind, "sequence_number": number, **more})

    def response(status: str) -> dict[str, Any]:
        return {
            "id": "resp_1",
            "object": "response",
            "created_at": 1,
            "model": "scripted",
            "status": status,
            "output": output,
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
            "usage": {
                "input_tokens": USAGE["input"] + USAGE["cached"],
                "input_tokens_details": {"cached_tokens": USAGE["cached"]},
                "output_tokens": USAGE["output"],
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": 120,
            },
        }

    yield event("response.created", response={**response("in_progress"), "output": []})
    if text:
        part = {"type": "output_text", "text": text, "annotations": []}
        place = {"item_id": "msg_1", "output_index": 1, "content_index": 0}
        for half in _halves(text):
            yield event("response.output_text.delta", **place, delta=half, logprobs=[])
        item = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed"}
        output.append({**item, "content": [part]})
    for call_id, name, arguments in calls:
        place = {"item_id": f"fc_{call_id}", "output_index": len(output)}
        for half in _halves(arguments):
            yield event("response.function_call_arguments.delta", **place, delta=half)
        output.append(
            {
                "type": "function_call",
                "id": f"fc_{call_id}",
                "call_id": call_id,
                "name": name,
                "arguments": arguments,
                "status": "completed",
            }
        )
    yield event("response.completed", response=response("completed"))


def _chat(text: str, calls: list[tuple[str, str, str]]) -> Iterator[str]:
    def chunk(**more: Any) -> str:
        base = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "scripted"}
        return f"data: {json.dumps({**base, 'choices': [], **more})}\n\n"

    def delta(finish: str | None = None, **more: Any) -> str:
        return chunk(choices=[{"index": 0, "delta": more, "finish_reason": finish}])

    yield delta(role="assistant", content="")
    for half in _halves(text) if text else ():
        yield delta(content=half)
    for index, (call_id, name, arguments) in enumerate(calls):
        first, second = _halves(arguments)
        yield delta(
            tool_calls=[
                {
                    "index": index,
                    "id": call_id,
                    "type": "function",
                    "function": {"name": name, "arguments": first},
                }
            ]
        )
        yield delta(tool_calls=[{"index": index, "function": {"arguments": second}}])
    yield delta("tool_calls" if calls else "stop")
    yield chunk(
        usage={
            "prompt_tokens": USAGE["input"] + USAGE["cached"],
            "prompt_tokens_details": {"cached_tokens": USAGE["cached"]},
            "completion_tokens": USAGE["output"],
            "total_tokens": 120,
        }
    )
    yield "data: [DONE]\n\n"


def _messages(text: str, calls: list[tuple[str, str, str]]) -> Iterator[str]:
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "scripted",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {
            "input_tokens": USAGE["input"],
            "cache_read_input_tokens": USAGE["cached"],
            "cache_creation_input_tokens": 0,
            "output_tokens": 1,
        },
    }
    yield _named({"type": "message_start", "message": message})
    index = 0

    def block(start: dict[str, Any], *deltas: dict[str, Any]) -> Iterator[str]:
        nonlocal index
        yield _named({"type": "content_block_start", "index": index, "content_block": start})
        for one in deltas:
            yield _named({"type": "content_block_delta", "index": index, "delta": one})
        yield _named({"type": "content_block_stop", "index": index})
        index += 1

    yield from block(
        {"type": "thinking", "thinking": "", "signature": ""},
        {"type": "thinking_delta", "thinking": "hm"},
        {"type": "signature_delta", "signature": "c2lnbmVk"},
    )
    if text:
        halves = [{"type": "text_delta", "text": half} for half in _halves(text)]
        yield from block({"type": "text", "text": ""}, *halves)
    for call_id, name, arguments in calls:
        pieces = [{"type": "input_json_delta", "partial_json": h} for h in _halves(arguments)]
        start = {"type": "tool_use", "id": call_id, "name": name, "input": {}}
        yield from block(start, *pieces)
    delta = {"stop_reason": "tool_use" if calls else "end_turn", "stop_sequence": None}
    usage = {"output_tokens": USAGE["output"]}
    yield _named({"type": "message_delta", "delta": delta, "usage": usage})
    yield _named({"type": "message_stop"})


_FORMATS = {
    "/v1/responses": _responses,
    "/v1/chat/completions": _chat,
    "/v1/messages": _messages,
}
