"""OpenAI Responses and Chat Completions through the official SDK."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

from ..adapters import wire
from ..debug import Debug
from .messages import ModelRequest, Reply, ToolCall, Usage, log_event, sdk_missing


class _OpenAI:
    name = "openai"

    def __init__(self, model: str, *, client: Any = None, **options: Any) -> None:
        """Connects to nothing yet.

        Args:
            model: Model id.
            client: An `openai.AsyncOpenAI`, for example with another `base_url`; made from the
                environment if None.
            options: Further members of each request, such as `reasoning`.
        """
        self.model = model
        self._given = client
        self._options = options
        self._debug = Debug.from_environment()

    @property
    def _client(self) -> Any:
        if self._given is None:
            try:
                from openai import AsyncOpenAI
            except ModuleNotFoundError as error:
                raise sdk_missing(error) from error

            self._given = AsyncOpenAI()
        return self._given


class OpenAIResponses(_OpenAI):
    """A model behind the Responses API. Nothing is stored at the provider."""

    form = "openai-responses"

    def payload(self, request: ModelRequest) -> dict[str, Any]:
        """The request body."""
        body: dict[str, Any] = {
            "model": self.model,
            "store": False,
            **self._options,
            "input": [item for entry in request.entries for item in self._items(entry)],
        }
        if request.system:
            body["instructions"] = request.system
        if request.tools:
            body["tools"] = wire.openai_responses(request.tools)
        return body

    def _items(self, entry: Mapping[str, Any]) -> list[dict[str, Any]]:
        if entry["role"] == "tool":
            return [
                {
                    "type": "function_call_output",
                    "call_id": entry["callId"],
                    "output": [_output(block) for block in entry["content"]],
                }
            ]
        if entry["role"] == "user":
            return [{"role": "user", "content": entry["text"]}]
        if entry.get("form") == self.form:
            return list(entry["native"])
        text = [{"role": "assistant", "content": entry["text"]}] if entry["text"] else []
        return text + [
            {
                "type": "function_call",
                "call_id": call["id"],
                "name": call["name"],
                "arguments": _text(call["input"]),
            }
            for call in entry.get("calls", [])
        ]

    async def stream(self, payload: Mapping[str, Any]) -> AsyncIterator[str | Reply]:
        """Sends the request; text, then the reply.

        Raises:
            RuntimeError: The provider reports that the response failed.
        """
        final: Any = None
        number = 0
        async for event in await self._client.responses.create(**payload, stream=True):
            log_event(self._debug, number, event, event.type)
            number += 1
            if event.type == "response.output_text.delta":
                yield event.delta
            elif event.type in ("response.completed", "response.incomplete"):
                final = event.response
            elif event.type in ("response.failed", "error"):
                raise RuntimeError(f"the provider's response failed: {event.to_json()[:2_000]}")
        if final is None:
            raise RuntimeError("the provider's stream ended early")
        # An output item holds members that are null; in an input item they are not allowed.
        items = [item.model_dump(mode="json", exclude_none=True) for item in final.output]
        yield Reply(
            text=final.output_text,
            calls=tuple(
                ToolCall(id=i["call_id"], name=i["name"], input=_parsed(i["arguments"]))
                for i in items
                if i["type"] == "function_call"
            ),
            usage=_usage(final.usage, "input_tokens", "output_tokens"),
            # Nothing is stored, so thoughts can only be sent back in their encrypted form.
            native=[i for i in items if i["type"] != "reasoning" or "encrypted_content" in i],
        )


class OpenAIChat(_OpenAI):
    """A model behind Chat Completions, or one of the many APIs that copy it."""

    form = "openai-chat"

    def payload(self, request: ModelRequest) -> dict[str, Any]:
        """The request body."""
        system = [{"role": "system", "content": request.system}] if request.system else []
        body: dict[str, Any] = {
            "model": self.model,
            "stream_options": {"include_usage": True},
            **self._options,
            "messages": [*system, *(_message(entry) for entry in request.entries)],
        }
        if request.tools:
            body["tools"] = wire.openai_chat(request.tools)
        return body

    async def stream(self, payload: Mapping[str, Any]) -> AsyncIterator[str | Reply]:
        """Sends the request; text, then the reply.

        Raises:
            RuntimeError: The stream ended before the reply did.
        """
        text: list[str] = []
        ended = False
        calls: dict[int, dict[str, str]] = {}
        usage: Usage | None = None
        number = 0
        async for chunk in await self._client.chat.completions.create(**payload, stream=True):
            log_event(self._debug, number, chunk, chunk.object)
            number += 1
            usage = _usage(chunk.usage, "prompt_tokens", "completion_tokens") or usage
            for choice in chunk.choices[:1]:
                ended = ended or choice.finish_reason is not None
                if choice.delta.content:
                    text.append(choice.delta.content)
                    yield choice.delta.content
                for part in choice.delta.tool_calls or ():
                    # Id and name come in the first piece of a call, arguments in all of them.
                    call = calls.setdefault(part.index, {"id": "", "name": "", "arguments": ""})
                    call["id"] = part.id or call["id"]
                    if part.function is not None:
                        call["name"] = part.function.name or call["name"]
                        call["arguments"] += part.function.arguments or ""
        if not ended:
            raise RuntimeError("the provider's stream ended early")
        yield Reply(
            text="".join(text),
            calls=tuple(
                ToolCall(id=c["id"], name=c["name"], input=_parsed(c["arguments"]))
                for _, c in sorted(calls.items())
            ),
            usage=usage,
        )


def _message(entry: Mapping[str, Any]) -> dict[str, Any]:
    if entry["role"] == "tool":
        # This API takes no images in results.
        text = "\n".join(
            "(an image, which cannot be shown)"
            if isinstance(block, Mapping) and block.get("type") == "image"
            else wire.block_text(block)
            for block in entry["content"]
        )
        return {"role": "tool", "tool_call_id": entry["callId"], "content": text}
    message: dict[str, Any] = {"role": entry["role"], "content": entry["text"]}
    if entry.get("calls"):
        message["tool_calls"] = [
            {
                "id": call["id"],
                "type": "function",
                "function": {"name": call["name"], "arguments": _text(call["input"])},
            }
            for call in entry["calls"]
        ]
    return message


def _output(block: Any) -> dict[str, Any]:
    if isinstance(block, Mapping) and block.get("type") == "image" and "data" in block:
        url = f"data:{block.get('mimeType')};base64,{block['data']}"
        return {"type": "input_image", "image_url": url, "detail": "auto"}
    return {"type": "input_text", "text": wire.block_text(block)}


def _usage(usage: Any, inputs: str, outputs: str) -> Usage | None:
    if usage is None:
        return None
    details = getattr(usage, f"{inputs}_details", None)
    cached = (getattr(details, "cached_tokens", None) or 0) if details is not None else 0
    return Usage(
        input=getattr(usage, inputs) - cached, output=getattr(usage, outputs), cache_read=cached
    )


def _parsed(arguments: str) -> Any:
    """Arguments as JSON; what is none stays text, and exec says what is wrong with it."""
    try:
        return json.loads(arguments) if arguments.strip() else {}
    except ValueError:
        return arguments


def _text(given: Any) -> str:
    return given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
