"""The record of a run: outer calls and the nested calls below them (tel.3)."""

from __future__ import annotations

import json
import logging
import math
import re
import time
from collections.abc import Callable, Iterator, Mapping
from functools import cache, lru_cache
from typing import Any

_log = logging.getLogger("codemode")

_HIDDEN_KEYS = (
    r"pass(word|wd|phrase)?$|secret|token|api[_-]?key|authorization|credential|cookie"
    r"|private[_-]?key"
)
_HIDDEN_TEXT = (
    r"\b(?:sk|pk|rk|ghp|gho|ghs|ghu|github_pat|xox[abprs]|AKIA|ASIA|AIza|glpat|hf|npm)[-_A-Za-z0-9]"
    r"[-_A-Za-z0-9]{11,}|\bBearer\s+\S+|\beyJ[\w-]+\.[\w-]+\.[\w-]+"
    r"|-----BEGIN[^-]*PRIVATE KEY-----.*?(?:-----END[^-]*-----|\Z)"
    r"|(?<=://)[^/\s:@]+:[^/\s@]+(?=@)"
)
_MARK = "[redacted]"
_TEXT = 512
_ITEMS = 32
_DEPTH = 6
# What is its own copy.
_PLAIN = frozenset({type(None), bool, int})


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    # Compiled when first used: that takes longer than importing this file.
    return re.compile(_HIDDEN_KEYS, re.IGNORECASE), re.compile(_HIDDEN_TEXT, re.DOTALL)


@lru_cache(maxsize=4_096)
def _named(key: str) -> tuple[str, bool]:
    """A key as it may be kept, and whether its value may not."""
    keys, texts = _patterns()
    return texts.sub(_MARK, key), keys.search(key) is not None


def redact(value: Any, depth: int = 0) -> Any:
    """A bounded copy of a JSON-like value without what looks like a secret.

    Values under keys such as `password`, `token`, `apiKey` and texts that have the form of known
    credentials are replaced. Texts are cut at 512 characters, lists and objects at 32 members.
    """
    kind = type(value)
    if kind in _PLAIN or isinstance(value, int):
        return value
    if isinstance(value, float):
        # There is no NaN in JSON.
        return value if math.isfinite(value) else None
    if isinstance(value, str):
        text = _patterns()[1].sub(_MARK, value[: _TEXT * 4])
        return text if len(text) <= _TEXT else text[:_TEXT] + f"… ({len(value)} characters)"
    if depth >= _DEPTH:
        return "…"
    if kind is dict or isinstance(value, Mapping):
        out: dict[str, Any] = {}
        for key, item in value.items():
            if len(out) == _ITEMS:
                out["…"] = f"{len(value) - _ITEMS} more"
                break
            name, hidden = _named(str(key)[:_TEXT])
            if hidden:
                out[name] = _MARK
            else:
                out[name] = item if type(item) in _PLAIN else redact(item, depth + 1)
        return out
    if isinstance(value, (list, tuple)):
        head = [redact(item, depth + 1) for item in value[:_ITEMS]]
        return head if len(value) <= _ITEMS else [*head, f"… ({len(value) - _ITEMS} more)"]
    return f"<{type(value).__name__}>"


_Start = tuple[float, str, str, str, str, Any]
_End = tuple[float, str, str, str, str, str, float, str | None]


def _event(event: Mapping[str, Any] | _Start | _End) -> Mapping[str, Any]:
    if not isinstance(event, tuple):
        return event
    out: dict[str, Any] = {
        "type": "call_start" if len(event) == 6 else "call_end",
        "time": event[0],
        "callId": event[1],
        "parentCallId": event[2],
        "tool": event[3],
        "name": event[4],
    }
    if len(event) == 6:
        out["input"] = event[5]
        return out
    out["outcome"] = event[5]
    out["durationMs"] = round(event[6] * 1000, 3)
    if event[7] is not None:
        out["error"] = event[7]
    return out


class Trajectory:
    """Events of one run, oldest first, each a JSON object.

    Every event has `type`, `time` (Unix seconds) and `callId`; those of nested calls also
    `parentCallId`, `tool` and `name`. Types: `call_start` {input, toolKind?, toolInputKind?},
    `call_update` {partial}, `call_end` {outcome: "ok"|"error"|"cancelled", durationMs, error?}.
    Inputs are redacted and cut before they are kept. At most `limit` events are kept; of a
    longer run the oldest ones are dropped and counted.
    """

    def __init__(
        self,
        *,
        listener: Callable[[Mapping[str, Any]], Any] | None = None,
        redactor: Callable[[Any], Any] = redact,
        limit: int = 10_000,
    ) -> None:
        """Makes an empty record.

        Args:
            listener: Called with each event; its errors are logged, never raised.
            redactor: Copy of an input without secrets.
            limit: Events to keep.
        """
        # Those of nested calls are put into their final form when somebody looks at them.
        self._events: list[Mapping[str, Any] | _Start | _End] = []
        self._listener = listener
        self._redactor = redactor
        self._limit = limit
        self.dropped = 0

    def _redact(self, value: Any) -> Any:
        try:
            return self._redactor(value)
        except Exception:  # noqa: BLE001 -- logged; closed on failure, and no call fails for it
            _log.exception("codemode: the redactor raised")
            return _MARK

    def add(
        self, kind: str, call_id: str, *, payload: tuple[str, Any] | None = None, **more: Any
    ) -> None:
        """Records an event.

        Args:
            kind: Type of the event.
            call_id: The call it is about.
            payload: Name and untrusted value, redacted before it is kept.
            more: Further fields.
        """
        event: dict[str, Any] = {"type": kind, "time": time.time(), "callId": call_id, **more}
        if payload is not None:
            event[payload[0]] = self._redact(payload[1])
        self._append(event)

    def began(self, call_id: str, parent: str, tool: str, name: str, given: Any) -> None:
        """Records the start of a nested call.

        Args:
            call_id: The call.
            parent: The outer call.
            tool: Catalog id.
            name: Name of the tool.
            given: Its input, untrusted.
        """
        self._append((time.time(), call_id, parent, tool, name, self._redact(given)))

    def ended(
        self,
        call_id: str,
        parent: str,
        tool: str,
        name: str,
        outcome: str,
        seconds: float,
        error: str | None,
    ) -> None:
        """Records the end of a nested call.

        Args:
            call_id: The call.
            parent: The outer call.
            tool: Catalog id.
            name: Name of the tool.
            outcome: ok, error or cancelled.
            seconds: How long it took.
            error: What the guest was told, untrusted.
        """
        error = None if error is None else self._redact(error)
        self._append((time.time(), call_id, parent, tool, name, outcome, seconds, error))

    def _append(self, event: dict[str, Any] | _Start | _End) -> None:
        if len(self._events) >= self._limit:
            cut = max(1, self._limit // 10)
            del self._events[:cut]
            self.dropped += cut
        if self._listener is None:
            self._events.append(event)
            return
        shown = _event(event)
        self._events.append(shown)
        try:
            self._listener(shown)
        except Exception:  # noqa: BLE001 -- logged; a listener cannot fail a call
            _log.exception("codemode: on_event raised")

    @property
    def events(self) -> list[Mapping[str, Any]]:
        """A copy of the list of events."""
        return [_event(event) for event in list(self._events)]

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        """Over the events, oldest first."""
        return iter(self.events)

    def __len__(self) -> int:
        """How many events are kept."""
        return len(self._events)

    def to_jsonl(self) -> str:
        """One event per line, each line a JSON object."""
        return "".join(json.dumps(e) + "\n" for e in self.events)
