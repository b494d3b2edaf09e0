"""What exec and wait give back (exe.3), in Python and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, get_args

from .records import record

if TYPE_CHECKING:
    from collections.abc import Mapping

ErrorCode = Literal[
    "invalid_input",
    "runtime_unavailable",
    "timeout",
    "output_limit_exceeded",
    "snapshot_limit_exceeded",
    "internal_error",
]
Limit = Literal["time", "memory", "stack", "output", "snapshot", "source", "pending"]
WaitReason = Literal["pending_tools", "yield"]
PendingState = Literal["running", "queued", "approval"]
CallStatus = Literal["ok", "error", "running"]

ERROR_CODES: frozenset[str] = frozenset(get_args(ErrorCode))
LIMITS: frozenset[str] = frozenset(get_args(Limit))


@record(frozen=True, slots=True, kw_only=True)
class PendingCall:
    """A nested call that has not ended.

    Attributes:
        call_id: Id of the nested call, as in hooks and trajectory.
        tool: Catalog id, or what the guest asked for if it is no tool.
        state: Running, queued behind `maxPendingToolCalls`, or waiting for a person's approval.
        elapsed_ms: Since the guest made the call.
    """

    call_id: str
    tool: str
    state: PendingState
    elapsed_ms: int

    def to_dict(self) -> dict[str, Any]:
        """JSON shape."""
        return {
            "id": self.call_id,
            "tool": self.tool,
            "state": self.state,
            "elapsedMs": self.elapsed_ms,
        }


@record(frozen=True, slots=True, kw_only=True)
class DispatchedCall:
    """A nested call that had been started when its cell failed."""

    tool: str
    status: CallStatus

    def to_dict(self) -> dict[str, Any]:
        """JSON shape."""
        return {"tool": self.tool, "status": self.status}


@record(frozen=True, slots=True, kw_only=True)
class Completed:
    """The cell has ended.

    Attributes:
        value: Final value, JSON-like.
        output: New output items, `{"type": "text", "text"}` or `{"type": "json", "value"}`.
        warnings: What the model should know besides.
        telemetry: tel.1.
    """

    value: Any
    output: tuple[Mapping[str, Any], ...] = ()
    warnings: tuple[str, ...] = ()
    telemetry: Mapping[str, Any]

    @property
    def status(self) -> Literal["completed"]:
        """`"completed"`."""
        return "completed"

    def to_dict(self) -> dict[str, Any]:
        """JSON shape of exe.3."""
        return _common({"status": "completed", "value": self.value}, self)


@record(frozen=True, slots=True, kw_only=True)
class Waiting:
    """The cell is suspended; `wait` with this `run_id` continues it.

    Attributes:
        run_id: Id of the cell; it stays the same over all waits.
        reason: Nested calls (or timers) are outstanding, or the guest yielded.
        pending_tool_calls: What has not ended yet, in call order.
        replay_safe: The cell only made replay-safe calls and can be run again from its source.
        snapshot_bytes: Bytes of the compressed image that is kept; for the host, not the model.
        output: New output items, as in `Completed`.
        warnings: What the model should know besides.
        telemetry: tel.1.
    """

    run_id: str
    reason: WaitReason
    pending_tool_calls: tuple[PendingCall, ...] = ()
    replay_safe: bool = False
    snapshot_bytes: int = 0
    output: tuple[Mapping[str, Any], ...] = ()
    warnings: tuple[str, ...] = ()
    telemetry: Mapping[str, Any]

    @property
    def status(self) -> Literal["waiting"]:
        """`"waiting"`."""
        return "waiting"

    def to_dict(self) -> dict[str, Any]:
        """JSON shape of exe.3."""
        out: dict[str, Any] = {"status": "waiting", "runId": self.run_id, "reason": self.reason}
        if self.pending_tool_calls:
            out["pendingToolCalls"] = [call.to_dict() for call in self.pending_tool_calls]
        if self.replay_safe:
            out["replaySafe"] = True
        return _common(out, self)


@record(frozen=True, slots=True, kw_only=True)
class Failed:
    """The cell, or the request for one, failed. Nothing of it is left to wait for.

    Attributes:
        error: What happened and what to do.
        code: One of the closed set of exe.4.
        limit: Which limit fired, if one did.
        location: One-based line and column in the text that the model sent.
        tool_calls: Nested calls that had been started, newest last, at most 32.
        tool_call_count: How many there were.
        output: New output items, as in `Completed`.
        warnings: What the model should know besides.
        telemetry: tel.1.
    """

    error: str
    code: ErrorCode
    limit: Limit | None = None
    location: tuple[int, int] | None = None
    tool_calls: tuple[DispatchedCall, ...] = ()
    tool_call_count: int = 0
    output: tuple[Mapping[str, Any], ...] = ()
    warnings: tuple[str, ...] = ()
    telemetry: Mapping[str, Any]

    @property
    def status(self) -> Literal["failed"]:
        """`"failed"`."""
        return "failed"

    def to_dict(self) -> dict[str, Any]:
        """JSON shape of exe.3."""
        out: dict[str, Any] = {"status": "failed", "error": self.error, "code": self.code}
        if self.limit is not None:
            out["limit"] = self.limit
        if self.location is not None:
            out["location"] = {"line": self.location[0], "column": self.location[1]}
        if self.tool_call_count:
            out["toolCalls"] = [call.to_dict() for call in self.tool_calls]
            out["toolCallCount"] = self.tool_call_count
        return _common(out, self)


Result = Completed | Waiting | Failed


def _common(out: dict[str, Any], result: Result) -> dict[str, Any]:
    if result.output:
        out["output"] = [dict(item) for item in result.output]
    if result.warnings:
        out["warnings"] = list(result.warnings)
    out["telemetry"] = dict(result.telemetry)
    return out
