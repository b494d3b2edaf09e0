"""What a host may implement to control and to watch nested calls (cat.8)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from .records import record

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .scope import Scope
    from .tools import Tool

EXEC_TOOL_KIND = "code_mode_exec"


class Policy(Protocol):
    """Decides which tools a run may use at all."""

    def allows(self, tool: Tool, scope: Scope) -> bool:
        """Whether `tool` is in the catalog of this run. Asked once per tool and catalog."""
        ...


@record(frozen=True, slots=True, kw_only=True)
class CallEvent:
    """A tool call that is about to run or has run.

    Attributes:
        call_id: Id of the call, unique within the run.
        parent_call_id: The exec or wait call of the model that it belongs to; None for an
            outer call.
        name: Tool name (`exec` for the outer call).
        tool_id: Catalog id; empty for the outer call.
        input: The arguments.
        scope: The run's scope.
        tool_kind: `"code_mode_exec"` for the outer exec, else None.
        tool_input_kind: Language of the outer exec, `"javascript"` or `"typescript"`.
    """

    call_id: str
    parent_call_id: str | None
    name: str
    tool_id: str
    input: Any
    scope: Scope
    tool_kind: str | None = None
    tool_input_kind: str | None = None


@record(frozen=True, slots=True)
class Block:
    """Answer of `before_tool_call`: do not run it; the guest gets an error with this reason."""

    reason: str


@record(frozen=True, slots=True)
class Change:
    """Answer of `before_tool_call`: run it with this input instead."""

    input: Any


@record(frozen=True, slots=True)
class NeedsApproval:
    """Answer of `before_tool_call`: ask `approve` first.

    Attributes:
        prompt: What to show to the person.
    """

    prompt: str


@record(frozen=True, slots=True)
class Replace:
    """Answer of `after_tool_call`: give this result instead."""

    result: Any


class Hooks:
    """Listeners of a run; override what you need. Each may be `async` or plain.

    An exception in `before_tool_call` or `approve` blocks the call (closed on failure); one in
    `after_tool_call` fails it; one in `on_event` is logged.
    """

    def before_tool_call(self, event: CallEvent) -> Any:
        """Called before a nested call, and before the outer exec.

        Returns:
            None, `Change(input)`, `Block(reason)` or `NeedsApproval(prompt)`.
        """

    def approve(self, event: CallEvent, prompt: str) -> Any:  # noqa: ARG002 -- for overriding
        """Asks a person; may take any time, none of which is guest time. Called once per call.

        Returns:
            True to run the call, False (the default) to deny it.
        """
        return False

    def after_tool_call(self, event: CallEvent, result: Any) -> Any:
        """Called with a tool's result before it is checked and handed to the guest.

        Returns:
            None, or `Replace(result)`.
        """

    def on_event(self, event: Mapping[str, Any]) -> Any:
        """Called with each trajectory event as it happens; plain only, must not block."""


class Forwarding(Hooks):
    """Passes everything on to other hooks: a base for hooks that only add to them."""

    def __init__(self, inner: Hooks | None) -> None:
        """`inner` are the host's own hooks, or None."""
        self._inner = inner if inner is not None else Hooks()

    def before_tool_call(self, event: CallEvent) -> Any:
        """The inner hooks' answer."""
        return self._inner.before_tool_call(event)

    def approve(self, event: CallEvent, prompt: str) -> Any:
        """The inner hooks' answer."""
        return self._inner.approve(event, prompt)

    def after_tool_call(self, event: CallEvent, result: Any) -> Any:
        """The inner hooks' answer."""
        return self._inner.after_tool_call(event, result)

    def on_event(self, event: Mapping[str, Any]) -> Any:
        """Tells the inner hooks."""
        return self._inner.on_event(event)
