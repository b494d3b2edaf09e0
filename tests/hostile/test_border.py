"""What a guest may send over the border at once: it is told of the limit, and the host never is in doubt."""

# ruff: noqa: E501 -- a program is one line

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.hostile.harness import resident

from codemode import CodeMode, Completed, Failed, Result, Tool, Waiting

pytestmark = pytest.mark.hostile

MIB = 1 << 20

PROGRAMS = {
    "a long id": ("await tools.call('x'.repeat(2e7))", "20000000 bytes long"),
    "a long query": ("await tools.search('ab '.repeat(5e6))", "15000000 bytes long"),
    "a long path": ("await API.read('x'.repeat(2e7))", "there is no file"),
    "many values": ("await tools.slow({a: Array(1e6).fill({})})", "more than 524288 values"),
    "many values in several calls": (
        "await Promise.all([1, 2, 3].map(() => tools.slow({a: Array(2e5).fill(1)})))",
        "more than 524288 values",
    ),
    "many values as output": ("json(Array(1e6).fill(0))", "more than 524288 values"),
    "many values as the result": ("return Array(1e6).fill(0)", "more than 524288 values"),
    "output that says nothing": ("for (;;) text('')", "over 8388608 bytes of JSON"),
}


def _tools() -> list[Tool]:
    async def slow(_: Any, context: Any) -> str:
        await asyncio.sleep(30)
        return "late"

    return [Tool(name="slow", execute=slow)]


async def _run(code: str, **config: Any) -> Result:
    async with CodeMode({"enabled": True, "maxOutputBytes": 8 * MIB, **config}) as cm:
        return await cm.run(_tools()).exec({"code": code})


@pytest.mark.parametrize(("code", "text"), PROGRAMS.values(), ids=PROGRAMS.keys())
@pytest.mark.req("saf.2", "saf.4", "gst.3", "gst.4")
async def test_too_much_at_once_is_told_to_the_guest(code: str, text: str) -> None:
    result = await _run(code)
    assert isinstance(result, Failed), result
    assert text in result.error, result.error[:500]
    assert result.code in ("internal_error", "output_limit_exceeded"), result.error[:500]
    assert len(result.error) < 5000


@pytest.mark.req("saf.1", "saf.4")
async def test_inputs_of_calls_that_wait_are_bounded() -> None:
    before = resident()
    # A turn for each, because one turn is bounded as well.
    result = await _run(
        "const big = 'x'.repeat(1e7); const said = [];"
        "for (let i = 0; i < 20; i++) {"
        "  tools.slow({big}).catch(e => said.push(e.message));"
        "  await new Promise(f => setTimeout(f, 1));"
        "} json([said.length, said[0]]); await yield_control()",
        timeoutMs=20_000,
    )
    assert isinstance(result, Waiting), result
    assert len(result.pending_tool_calls) == 6
    assert result.output[0]["value"][0] == 14
    assert "67108864 bytes" in result.output[0]["value"][1]
    assert resident() < before + 200 * MIB


@pytest.mark.req("saf.1", "saf.4")
async def test_values_of_calls_that_wait_are_bounded() -> None:
    before = resident()
    result = await _run(
        "const a = Array(1e5).fill({}); let said = '';"
        "for (let i = 0; !said; i++) {"
        "  tools.slow({a}).catch(e => (said = i + ' ' + e.message));"
        "  await new Promise(f => setTimeout(f, 1));"
        "} text(said); await yield_control()",
        timeoutMs=20_000,
    )
    assert isinstance(result, Waiting), result
    # Of 37 bytes each.
    assert result.output[0]["text"].startswith("18 ")
    assert "67108864 bytes" in result.output[0]["text"]
    assert resident() < before + 300 * MIB


@pytest.mark.req("gst.4", "cat.7")
async def test_a_large_table_crosses() -> None:
    async def total(given: Any, _: Any) -> int:
        return sum(row["n"] for row in given["rows"])

    async with CodeMode({"enabled": True}) as cm:
        run = cm.run([Tool(name="total", execute=total)])
        code = "return await tools.total({rows: Array.from({length: 1e5}, (_, n) => ({n, name: 'row ' + n}))})"
        result = await run.exec({"code": code})
    assert isinstance(result, Completed), result
    assert result.value == sum(range(100_000))
