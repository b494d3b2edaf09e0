from __future__ import annotations

import asyncio
from typing import Any

import pytest

from codemode import CodeMode, Hooks, Tool
from codemode.otel import ATTRIBUTES, OtelHooks

pytest.importorskip("opentelemetry.sdk")


async def _echo(arguments: dict[str, Any], _context: Any) -> Any:
    return arguments


async def _fail(_arguments: dict[str, Any], _context: Any) -> Any:
    raise ValueError("password=hunter2")


def _exporter() -> tuple[Any, Any]:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return exporter, provider


@pytest.mark.req("tel.3", "tel.4")
async def test_nested_calls_are_spans_below_their_exec_without_secrets() -> None:
    exporter, provider = _exporter()
    seen: list[str] = []

    class Mine(Hooks):
        def on_event(self, event: Any) -> None:
            seen.append(event["type"])

    tools = [Tool(name="echo", execute=_echo), Tool(name="fail", execute=_fail)]
    async with CodeMode(True) as cm:
        run = cm.run(tools, hooks=OtelHooks(Mine(), tracer_provider=provider))
        program = (
            "await tools.echo({token: 'sk-canary-0123456789'}); "
            "try { await tools.fail({}) } catch {} return 1"
        )
        assert (await run.exec({"code": program}, call_id="outer")).status == "completed"
    spans = {span.name: span for span in exporter.get_finished_spans()}
    outer = spans["execute_tool exec"]
    assert spans["execute_tool echo"].parent.span_id == outer.context.span_id
    assert spans["execute_tool fail"].status.status_code.name == "ERROR"
    assert outer.attributes["codemode.tool.kind"] == "code_mode_exec"
    for span in spans.values():
        assert set(span.attributes) <= ATTRIBUTES
    rendered = "".join(span.to_json() for span in spans.values())
    assert "canary" not in rendered
    assert "hunter2" not in rendered
    assert "call_end" in seen


@pytest.mark.req("tel.3")
async def test_what_failed_or_was_cancelled_has_a_span_that_ends_and_says_so() -> None:
    exporter, provider = _exporter()
    running = asyncio.Event()

    async def slow(_arguments: Any, _context: Any) -> None:
        running.set()
        await asyncio.Event().wait()

    async with CodeMode(True) as cm:
        run = cm.run([Tool(name="slow", execute=slow)], hooks=OtelHooks(tracer_provider=provider))
        assert (await run.exec({"code": "throw new Error('no')"})).status == "failed"
        cut_off = asyncio.ensure_future(run.exec({"code": "await tools.slow({})"}))
        await running.wait()
        cut_off.cancel()
        await asyncio.wait([cut_off])
    spans = [
        (span.name, span.attributes["codemode.outcome"], span.status.status_code.name)
        for span in exporter.get_finished_spans()
    ]
    assert sorted(spans) == [
        ("execute_tool exec", "cancelled", "UNSET"),
        ("execute_tool exec", "failed", "ERROR"),
        ("execute_tool slow", "cancelled", "UNSET"),
    ]
