"""Tool calls beside code mode: nested ones for the transcript, plain ones, interrupted ones."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from ..executor import Executor
from ..policy import Forwarding
from ..telemetry import Counters
from ..tools import ToolResult

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..policy import Hooks
    from ..run import CodeModeRun
    from .messages import ToolCall
    from .transcript import Transcript


class Recorder(Forwarding):
    """Puts nested calls into the transcript as they end, and passes everything on."""

    def __init__(self, transcript: Transcript, inner: Hooks | None) -> None:
        """Writes to `transcript`; `inner` are the host's own hooks."""
        self._transcript = transcript
        super().__init__(inner)
        self._inputs: dict[str, Any] = {}

    def on_event(self, event: Mapping[str, Any]) -> Any:
        """Keeps what ends below an exec call."""
        if event.get("parentCallId"):
            if event["type"] == "call_start":
                self._inputs[event["callId"]] = event.get("input")
            elif event["type"] == "call_end":
                fields = {k: v for k, v in event.items() if k not in ("type", "time")}
                given = self._inputs.pop(event["callId"], None)
                self._transcript.add("nested", **fields, input=given)
        result = super().on_event(event)
        if inspect.iscoroutine(result):
            result.close()
            raise TypeError("on_event must be a plain function")


async def call_plain(run: CodeModeRun, call: ToolCall, hooks: Hooks | None) -> ToolResult:
    """Runs a call of a model that sees the tools themselves, on the same path as nested calls."""
    view = run.catalog
    found = [tool for tool in view.tools if tool.name == call.name]
    if len(found) != 1:
        text = f"There is no tool {call.name[:100]}. Nothing was run."
        return ToolResult(content=[{"type": "text", "text": text}], is_error=True)
    executor = Executor(
        config=run.config,
        scope=run.scope,
        hooks=hooks,
        counters=Counters(),
        trajectory=run.trajectory,
    )
    return await run.direct_calls.run(executor, view, found[0], call.id, call.input)


def interrupted_text(call: ToolCall, nested: Sequence[Mapping[str, Any]], why: str) -> str:
    """What a model is told of a call that was cut off and that may not be repeated."""
    text = (
        f"{call.name} has no result, because {why} while it was running. It was not run again, "
        "because it may have had effects."
    )
    if nested:
        done = ", ".join(f"{entry['tool']} ({entry['outcome']})" for entry in nested[-32:])
        text += f" These calls of it had ended: {done}. Others may have been under way."
    return f"{text} Check the state of things before you repeat anything."
