"""One nested call of a cell, and how it is rejected (gst.5)."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .tools import ToolContext

# The model itself calls a visible tool.
DIRECT = "direct"
_SHOWN_TARGET = 200


class GuestError(Exception):
    """A rejection of a nested call, as the guest sees it: plain data.

    Args:
        message: What happened and what to do.
        name: `name` of the guest's error.
        fields: Further own properties.
    """

    def __init__(
        self, message: str, *, name: str = "Error", fields: Mapping[str, Any] | None = None
    ) -> None:
        """See the class."""
        super().__init__(message)
        self.message = message
        self.name = name
        self.fields = fields or {}

    def to_dict(self) -> dict[str, Any]:
        """Plain data for the guest."""
        return {**self.fields, "name": self.name, "message": self.message}


class Call:
    """One nested call of a cell.

    Attributes:
        number: Number that the worker gave it, ascending within the cell.
        call_id: Id for hooks, trajectory and pending lists.
        parent_call_id: The outer exec.
        op: What the guest asked for.
        target: Tool id or name, query, … as the guest gave it.
        arguments: Decoded input.
        tool: Catalog id once resolved, before that the target.
        state: `queued`, `running`, `approval` or `done`.
        size: What it takes of the host while it is outstanding, bytes.
        status: `running`, then `ok` or `error`.
        created: `time.monotonic()` when it was made.
        context: What its tool got, while it runs.
        aborted: Its cell, or for a visible tool its run, has ended.
        notes: What the model should know of its result.
    """

    __slots__ = (
        "aborted",
        "arguments",
        "call_id",
        "context",
        "created",
        "notes",
        "number",
        "op",
        "parent_call_id",
        "replay_safe_only",
        "size",
        "state",
        "status",
        "target",
        "tool",
    )

    def __init__(
        self,
        number: int,
        op: str,
        target: str,
        arguments: Any,
        *,
        parent_call_id: str,
        replay_safe_only: bool,
        size: int = 0,
    ) -> None:
        """See the class."""
        self.number = number
        self.size = size
        self.call_id = f"{parent_call_id}:{number}"
        self.parent_call_id = parent_call_id
        self.op = op
        self.target = target
        self.arguments = arguments
        self.replay_safe_only = replay_safe_only
        self.tool = target if len(target) <= _SHOWN_TARGET else target[:_SHOWN_TARGET]
        self.state = "queued"
        self.status = "running"
        self.created = time.monotonic()
        self.context: ToolContext | None = None
        self.aborted = False
        self.notes: list[str] = []

    def abort(self) -> None:
        """Keeps its tool from running, and tells it if it does already."""
        self.aborted = True
        if self.context is not None:
            self.context.abort()
