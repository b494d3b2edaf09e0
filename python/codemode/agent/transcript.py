"""The transcript of a conversation, which is also what a restart goes on from (tel.3, rec.1)."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from .messages import ToolCall

# Roles of entries that a model is shown.
SHOWN = ("user", "assistant", "tool")


class Transcript:
    """Entries of a conversation, oldest first, each a JSON object with a `role`.

    `user` {text}; `assistant` {text, calls: [{id, name, input}], form?, native?};
    `tool` {callId, name, content: blocks, isError, status?, runId?, replaySafe?}: the result of a
    call; `nested` {callId, parentCallId, tool, name, input?, outcome, durationMs, error?}: a call
    that the program of the exec call `parentCallId` made; `end` {reason}: the turn before it was
    cancelled. Models are shown the first three only.

    With a path each entry is on disk before the loop goes on, one per line.
    """

    def __init__(self, path: str | Path | None = None) -> None:
        """Reads what is in the file, or starts empty.

        Args:
            path: JSON Lines file. A last line that was cut off by a crash is dropped.

        Raises:
            ValueError: A line other than the last is no JSON object with a role.
        """
        self._entries: list[dict[str, Any]] = []
        self._path = None if path is None else Path(path)
        if self._path is not None and self._path.exists():
            self._read(self._path)

    def _read(self, path: Path) -> None:
        text = path.read_text("utf-8")
        whole, _, cut = text.rpartition("\n")
        for number, line in enumerate(whole.splitlines(), 1):
            try:
                entry = json.loads(line)
            except ValueError as error:
                raise ValueError(f"{path}, line {number}: no JSON ({error})") from error
            if not isinstance(entry, dict) or not isinstance(entry.get("role"), str):
                raise ValueError(  # noqa: TRY004 -- the file is wrong, not the argument
                    f"{path}, line {number}: no object with a role"
                )
            self._entries.append(entry)
        if cut:
            os.truncate(path, len(text[: -len(cut)].encode()))

    def add(self, role: str, **fields: Any) -> None:
        """Appends an entry; fields that are None are left out."""
        entry = {"role": role, **{k: v for k, v in fields.items() if v is not None}}
        self._entries.append(entry)
        if self._path is not None:
            with self._path.open("a", encoding="utf-8") as file:
                # ASCII only: a lone surrogate from a model must not stop the write.
                file.write(json.dumps(entry, default=str) + "\n")
                file.flush()
                os.fsync(file.fileno())

    @property
    def entries(self) -> list[Mapping[str, Any]]:
        """A copy of the list of entries."""
        return list(self._entries)

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        """Over the entries, oldest first."""
        return iter(self.entries)

    def __len__(self) -> int:
        """How many entries there are."""
        return len(self._entries)

    def nested_of(self, call_id: str) -> list[Mapping[str, Any]]:
        """The nested calls below an exec call, in the order in which they ended."""
        return [e for e in self if e["role"] == "nested" and e.get("parentCallId") == call_id]

    def unanswered(self) -> list[ToolCall]:
        """Calls of the last assistant entry that have no result, as after a crash."""
        answered: set[str] = set()
        # Some providers use the same ids again in each reply.
        for entry in reversed(self._entries):
            if entry["role"] == "tool":
                answered.add(entry["callId"])
            elif entry["role"] == "assistant":
                calls = entry.get("calls", [])
                return [ToolCall(**call) for call in calls if call["id"] not in answered]
        return []

    @property
    def is_interrupted(self) -> bool:
        """Whether the last turn is not over: no final answer yet, and not cancelled."""
        last = next((e for e in reversed(self._entries) if e["role"] != "nested"), None)
        if last is None or last["role"] == "end":
            return False
        return last["role"] != "assistant" or bool(last.get("calls"))

    def replayable(self) -> dict[str, ToolCall]:
        """Restart-safe exec calls by the runId of their suspended cells."""
        calls = {
            call["id"]: ToolCall(**call)
            for entry in self
            if entry["role"] == "assistant"
            for call in entry.get("calls", [])
        }
        found: dict[str, ToolCall] = {}
        for entry in self:
            if entry["role"] != "tool" or not entry.get("replaySafe"):
                continue
            call = calls.get(entry["callId"])
            if call is not None and call.name == "exec":
                found[entry["runId"]] = call
            elif call is not None and isinstance(call.input, Mapping):
                # A cell that was replayed for a wait has another runId than before.
                origin = found.get(call.input.get("runId", ""))
                if origin is not None:
                    found[entry["runId"]] = origin
        return found
