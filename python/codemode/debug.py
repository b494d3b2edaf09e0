"""Debug switches in the environment (tel.4). They change what is logged, and nothing else."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Mapping
from typing import Any

from .records import record
from .trajectory import redact

_log = logging.getLogger("codemode.debug")

_OFF = ("", "0", "false", "off", "no")
_PEEK = 5
_MOST = 20_000


@record(frozen=True, slots=True, kw_only=True)
class Debug:
    """What is switched on.

    Attributes:
        code_mode: `CODEMODE_DEBUG`: activation, cells and nested calls.
        transport: `CODEMODE_DEBUG_TRANSPORT`: requests to models, without bodies.
        payload: `CODEMODE_DEBUG_PAYLOAD`: `"tools"` (names) or `"full-redacted"`.
        sse: `CODEMODE_DEBUG_SSE`: `"events"` (types) or `"peek"` (the first five, redacted).
    """

    code_mode: bool = False
    transport: bool = False
    payload: str = ""
    sse: str = ""

    @classmethod
    def from_environment(cls, environ: Mapping[str, str] | None = None) -> Debug:
        """Reads the switches; a word that is not known counts as off.

        Args:
            environ: Instead of the process's environment.
        """
        env = os.environ if environ is None else environ

        def word(name: str, other: str) -> str:
            value = env.get(name) or env.get(other) or ""
            return "" if value.lower() in _OFF else value.lower()

        payload = word("CODEMODE_DEBUG_PAYLOAD", "OPENCLAW_DEBUG_MODEL_PAYLOAD")
        sse = word("CODEMODE_DEBUG_SSE", "OPENCLAW_DEBUG_SSE")
        return cls(
            code_mode=bool(word("CODEMODE_DEBUG", "OPENCLAW_DEBUG_CODE_MODE")),
            transport=bool(word("CODEMODE_DEBUG_TRANSPORT", "OPENCLAW_DEBUG_MODEL_TRANSPORT")),
            payload=payload if payload in ("tools", "full-redacted") else "",
            sse=sse if sse in ("events", "peek") else "",
        )

    @property
    def any(self) -> bool:
        """Whether something is switched on."""
        return self.code_mode or self.transport or bool(self.payload or self.sse)

    def log(self, message: str, **fields: Any) -> None:
        """Logs an event of code mode itself."""
        if self.code_mode:
            _emit(message, fields)

    def log_request(self, provider: str, model: str, **fields: Any) -> None:
        """Logs that a request is sent, or what became of it."""
        if self.transport:
            _emit("model request", {"provider": provider, "model": model, **fields})

    def log_payload(self, payload: Mapping[str, Any]) -> None:
        """Logs a request body as far as it was asked for."""
        if self.payload == "tools":
            _emit("model tools", {"tools": tool_names(payload)})
        elif self.payload == "full-redacted":
            _emit("model payload", {"payload": redact(payload)})

    def log_sse(self, number: int, event: Any) -> None:
        """Logs one event of a stream.

        Args:
            number: Its place in the stream, from 0.
            event: Its data.
        """
        if self.sse == "events":
            kind = event.get("type") if isinstance(event, Mapping) else type(event).__name__
            _emit("model event", {"number": number, "type": redact(kind)})
        elif self.sse == "peek" and number < _PEEK:
            _emit("model event", {"number": number, "event": redact(event)})


def tool_names(payload: Mapping[str, Any]) -> list[str]:
    """Names of the tools in a provider's request, whatever its form."""
    names: list[str] = []
    config = payload.get("config")
    places = [payload, config] if isinstance(config, Mapping) else [payload]
    for tools in (place.get("tools") for place in places):
        for tool in tools if isinstance(tools, (list, tuple)) else ():
            if not isinstance(tool, Mapping):
                continue
            declared = tool.get("functionDeclarations") or tool.get("function_declarations")
            names.extend(
                str(item.get("name") or item.get("type") or "?")[:100]
                for item in declared or (tool.get("function") or tool,)
                if isinstance(item, Mapping)
            )
    return names


def _emit(message: str, fields: Mapping[str, Any]) -> None:
    if not _log.isEnabledFor(logging.DEBUG):
        # Who sets the variable wants to see it, whether or not the host has set up logging.
        _log.setLevel(logging.DEBUG)
    if not _log.hasHandlers():
        _log.addHandler(logging.StreamHandler())
    text = json.dumps(fields, ensure_ascii=False, default=lambda v: f"<{type(v).__name__}>")
    _log.debug("%s %s", message, text[:_MOST])
