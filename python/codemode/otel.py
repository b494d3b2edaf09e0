"""OpenTelemetry spans of exec, wait and nested calls (extra `otel`: the API only).

Pass `hooks=OtelHooks()` to `CodeMode.run`, or `OtelHooks(yours)` around hooks of your own. Without
an SDK configured in the process the spans go nowhere and cost next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .policy import Forwarding

if TYPE_CHECKING:
    from collections.abc import Mapping

    from opentelemetry.trace import Span, TracerProvider

    from .policy import Hooks

# Every attribute that a span may have. No inputs, results or error texts: they may hold secrets.
ATTRIBUTES = frozenset(
    {
        "gen_ai.operation.name",
        "gen_ai.tool.name",
        "gen_ai.tool.call.id",
        "codemode.tool.id",
        "codemode.tool.kind",
        "codemode.input.kind",
        "codemode.outcome",
    }
)
_MAX_OPEN = 10_000


class OtelHooks(Forwarding):
    """Makes one span per call; nested calls are children of their exec or wait."""

    def __init__(
        self, inner: Hooks | None = None, *, tracer_provider: TracerProvider | None = None
    ) -> None:
        """Needs the `otel` extra.

        Args:
            inner: Hooks of the host; asked and told as if they stood alone.
            tracer_provider: Where the tracer comes from; the global one by default.

        Raises:
            ModuleNotFoundError: `opentelemetry-api` is not installed.
        """
        from opentelemetry import trace

        super().__init__(inner)
        self._trace = trace
        self._tracer = trace.get_tracer("codemode", tracer_provider=tracer_provider)
        self._open: dict[str, Span] = {}

    def on_event(self, event: Mapping[str, Any]) -> Any:
        """Opens and ends spans; tells the inner hooks."""
        if event["type"] == "call_start":
            self._start(event)
        elif event["type"] == "call_end":
            self._end(event)
        return super().on_event(event)

    def _start(self, event: Mapping[str, Any]) -> None:
        if len(self._open) >= _MAX_OPEN:
            return
        parent = self._open.get(event.get("parentCallId", ""))
        context = self._trace.set_span_in_context(parent) if parent is not None else None
        attributes = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": event["name"],
            "gen_ai.tool.call.id": event["callId"],
            "codemode.tool.id": event.get("tool"),
            "codemode.tool.kind": event.get("toolKind"),
            "codemode.input.kind": event.get("toolInputKind"),
        }
        self._open[event["callId"]] = self._tracer.start_span(
            f"execute_tool {event['name']}",
            context=context,
            attributes={key: value for key, value in attributes.items() if value is not None},
        )

    def _end(self, event: Mapping[str, Any]) -> None:
        span = self._open.pop(event["callId"], None)
        if span is None:
            return
        outcome = event.get("outcome", "ok")
        span.set_attribute("codemode.outcome", outcome)
        if outcome in ("error", "failed"):
            span.set_status(self._trace.StatusCode.ERROR)
        span.end()
