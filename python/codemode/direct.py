"""Calls that the model makes itself, of tools that it sees: the path of nested calls."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from .call import DIRECT, Call, GuestError
from .tools import ToolResult

if TYPE_CHECKING:
    from .catalog import CatalogView
    from .executor import Executor
    from .tools import Tool


class DirectCalls:
    """Those of one run."""

    def __init__(self) -> None:
        """None yet."""
        self._open: set[Call] = set()

    async def run(
        self, executor: Executor, view: CatalogView, tool: Tool, call_id: str, arguments: Any
    ) -> ToolResult:
        """Runs one to its end.

        Args:
            executor: Runs the tool.
            view: The catalog that has it.
            tool: What is called.
            call_id: The model's id of the call.
            arguments: What the model sent.

        Returns:
            What the tool gave; with `is_error` if it failed.
        """
        tool_id = view.id_of(tool)
        call = Call(0, DIRECT, tool_id, arguments, parent_call_id="", replay_safe_only=False)
        call.call_id = call_id
        call.state = "running"
        self._open.add(call)
        try:
            return as_result(await executor.call_tool(call, tool_id, tool, view))
        except GuestError as error:
            return ToolResult(content=[{"type": "text", "text": str(error)}], is_error=True)
        finally:
            self._open.discard(call)

    def abort(self) -> None:
        """Those whose tool does not run yet will not run it; the others are told."""
        for call in self._open:
            call.abort()


def as_result(value: Any) -> ToolResult:
    """A `ToolResult` of what a tool gave."""
    if isinstance(value, ToolResult):
        return value
    text = value if isinstance(value, str) else _json(value)
    return ToolResult(content=[{"type": "text", "text": text}], details=value)


def _json(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError):
        return str(value)
