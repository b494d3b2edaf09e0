"""What a program makes the worker copy for the host is bounded, whatever of it is shared."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

import pytest
from tests.hostile.harness import PROBE, PROBE_VALUE, nothing, resident

from codemode import CodeMode, Completed, Failed, Result

pytestmark = [pytest.mark.hostile, pytest.mark.req("saf.2", "gst.3")]

MIB = 1 << 20
CUT = {"outputOverflow": "truncate"}
BIG = {**CUT, "memoryLimitBytes": 1 << 30, "timeoutMs": 30_000}


@dataclass(frozen=True, slots=True)
class Copy:
    name: str
    code: str
    config: dict[str, Any] = field(default_factory=dict)
    # `status`, or `status/limit`.
    allowed: tuple[str, ...] = ("completed",)


COPIES = [
    Copy(
        "text_of_shared_strings",
        "const s = 'x'.repeat(1 << 20); text(new Array(400).fill(s)); return 1",
        CUT,
    ),
    Copy(
        "json_of_shared_strings",
        "const s = 'x'.repeat(1 << 20); json({all: new Array(400).fill(s)}); return 1",
        CUT,
    ),
    Copy(
        "value_of_shared_strings",
        "const s = 'x'.repeat(1 << 20); return new Array(400).fill(s)",
        CUT,
    ),
    Copy("value_of_holes", "return new Array(4e9)", CUT),
    Copy("many_items", "for (let i = 0; i < 400_000; i++) text('x'); return 1", CUT),
    Copy("many_json_items", "for (let i = 0; i < 100_000; i++) json([i]); return 1", CUT),
    Copy(
        "long_names",
        "const id = 'x'.repeat(1 << 20); let n = 0;"
        "for (let i = 0; i < 2000; i++) tools.callValue(id, {}).catch(() => n++);"
        "await 1; return n",
    ),
    Copy(
        "warnings_with_names",
        "const id = 'x'.repeat(8000); let n = 0;"
        "for (let i = 0; i < 6_000; i++) tools.callValue(id, NaN).catch(() => n++);"
        "return 'done'",
    ),
    Copy("missed_names", "for (let i = 0; i < 9; i++) tools['x'.repeat((9 << 20) + i)]; return 1"),
    Copy(
        "a_message_of_all_memory",
        "throw new Error('x'.repeat(400 << 20))",
        BIG,
        ("failed/None", "failed/memory", "failed/time"),
    ),
    Copy(
        "messages_of_all_causes",
        "const m = 'x'.repeat(200 << 20); let c;"
        "const all = [{name: m, message: m}];"
        "for (let i = 0; i < 6; i++) c = new AggregateError(all, m, {cause: c});"
        "throw c",
        BIG,
        ("failed/memory", "failed/None", "failed/time"),
    ),
]


def outcome(result: Result) -> str:
    return f"failed/{result.limit}" if isinstance(result, Failed) else result.status


@pytest.mark.parametrize("copy", COPIES, ids=lambda copy: copy.name)
async def test_copies_for_the_host_are_bounded(copy: Copy) -> None:
    async with CodeMode(True) as cm:
        run = cm.run([nothing()], config=copy.config)
        before = resident()
        result = await asyncio.wait_for(run.exec({"code": copy.code}), 60)
        assert outcome(result) in copy.allowed, result
        assert not isinstance(result, Failed) or result.code != "runtime_unavailable", result
        assert resident() - before < 64 * MIB
        assert sum(len(str(item)) for item in result.output) < 2 * MIB
        after = await run.exec({"code": PROBE})
        assert isinstance(after, Completed), after
        assert after.value == PROBE_VALUE


async def test_what_is_omitted_is_counted_exactly() -> None:
    config = {**CUT, "maxOutputBytes": 1024}
    async with CodeMode(True) as cm:
        run = cm.run([nothing()], config=config)
        code = (
            "text('a'.repeat(900)); text({long: 'b'.repeat(5_000), rest: [1, 2]});"
            "json(['c'.repeat(100)]); text('d'.repeat(70)); return {v: 'e'.repeat(3_000)}"
        )
        result = await run.exec({"code": code})
        assert isinstance(result, Completed), result
        first, second = result.output
        assert first == {"type": "text", "text": "a" * 900}
        whole = '{"long":"' + "b" * 5_000 + '","rest":[1,2]}'
        assert second["text"].startswith('{"long":"bb')
        assert second["omittedBytes"] == len(whole) - len(second["text"])
        said = " ".join(result.warnings)
        assert "2 more output items were omitted at the output limit: 174 bytes" in said
        kept = len(result.value["v"])
        assert f"{3_000 - kept} bytes of JSON omitted" in said
