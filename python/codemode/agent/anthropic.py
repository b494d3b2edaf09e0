"""Anthropic Messages through the official SDK."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Any

from ..adapters import wire
from ..debug import Debug
from .messages import ModelRequest, Reply, ToolCall, Usage, log_event, sdk_missing


class AnthropicMessages:
    """A model behind the Messages API."""

    form = "anthropic-messages"
    name = "anthropic"

    def __init__(
        self, model: str, *, client: Any = None, max_tokens: int = 8_192, **options: Any
    ) -> None:
        """Connects to nothing yet.

        Args:
            model: Model id.
            client: An `anthropic.AsyncAnthropic`; made from the environment if None.
            max_tokens: Most tokens of one reply.
            options: Further members of each request, such as `thinking`.
        """
        self.model = model
        self._client = client
        self._options = {"max_tokens": max_tokens, **options}
        self._debug = Debug.from_environment()

    def payload(self, request: ModelRequest) -> dict[str, Any]:
        """The request body."""
        body: dict[str, Any] = {
            "model": self.model,
            **self._options,
            "messages": self._messages(request.entries),
        }
        if request.system:
            body["system"] = request.system
        if request.tools:
            body["tools"] = wire.anthropic(request.tools)
        return body

    def _messages(self, entries: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
        out: list[dict[str, Any]] = []
        for entry in entries:
            role = "assistant" if entry["role"] == "assistant" else "user"
            content = self._content(entry)
            if not content:
                continue
            # The results of parallel calls have to be in one message.
            if out and out[-1]["role"] == role:
                out[-1]["content"] += content
            else:
                out.append({"role": role, "content": content})
        return out

    def _content(self, entry: Mapping[str, Any]) -> list[dict[str, Any]]:
        if entry["role"] == "tool":
            return [
                {
                    "type": "tool_result",
                    "tool_use_id": entry["callId"],
                    "content": [_block(block) for block in entry["content"]],
                    "is_error": entry["isError"],
                }
            ]
        if entry["role"] == "assistant" and entry.get("form") == self.form:
            return list(entry["native"])
        text = [{"type": "text", "text": entry["text"]}] if entry["text"] else []
        return text + [
            {
                "type": "tool_use",
                "id": call["id"],
                "name": call["name"],
                "input": call["input"] if isinstance(call["input"], Mapping) else {},
            }
            for call in entry.get("calls", [])
        ]

    async def stream(self, payload: Mapping[str, Any]) -> AsyncIterator[str | Reply]:
        """Sends the request; text, then the reply.

        Raises:
            RuntimeError: The stream ended before the reply did.
        """
        if self._client is None:
            try:
                from anthropic import AsyncAnthropic
            except ModuleNotFoundError as error:
                raise sdk_missing(error) from error

            self._client = AsyncAnthropic()
        async with self._client.messages.stream(**payload) as stream:
            number = 0
            async for event in stream:
                log_event(self._debug, number, event, event.type)
                number += 1
                if event.type == "text":
                    yield event.text
            message = await stream.get_final_message()
        if message.stop_reason is None:
            raise RuntimeError("the provider's stream ended early")
        blocks = [block.model_dump(mode="json", exclude_none=True) for block in message.content]
        usage = message.usage
        yield Reply(
            text="".join(b["text"] for b in blocks if b["type"] == "text"),
            calls=tuple(
                ToolCall(id=b["id"], name=b["name"], input=b["input"])
                for b in blocks
                if b["type"] == "tool_use"
            ),
            usage=Usage(
                input=usage.input_tokens,
                output=usage.output_tokens,
                cache_read=usage.cache_read_input_tokens or 0,
                cache_write=usage.cache_creation_input_tokens or 0,
            ),
            native=[{k: v for k, v in b.items() if k in _SENT[b["type"]]} for b in blocks]
            if all(b["type"] in _SENT for b in blocks)
            else blocks,
        )


# Members of a reply's block that a request may have; the SDK adds others while it reads.
_SENT: dict[str, tuple[str, ...]] = {
    "text": ("type", "text"),
    "tool_use": ("type", "id", "name", "input"),
    "thinking": ("type", "thinking", "signature"),
    "redacted_thinking": ("type", "data"),
}


def _block(block: Any) -> dict[str, Any]:
    """A block of a tool's result; MCP's images are put into this API's form."""
    if isinstance(block, Mapping) and block.get("type") == "text":
        return {"type": "text", "text": str(block.get("text", ""))}
    if isinstance(block, Mapping) and block.get("type") == "image" and "data" in block:
        source = {"type": "base64", "media_type": block.get("mimeType"), "data": block["data"]}
        return {"type": "image", "source": source}
    return {"type": "text", "text": wire.block_text(block)}
