from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from codemode import CodeMode, Tool

from .programs import programs


async def _echo(arguments: dict[str, Any], _context: Any) -> Any:
    await asyncio.sleep(arguments.get("ms", 0) / 1000)
    return arguments["value"]


async def _fail(arguments: dict[str, Any], _context: Any) -> Any:
    raise ValueError(arguments["text"])


TOOLS = [Tool(name="echo", execute=_echo), Tool(name="fail", execute=_fail)]


async def _outcome(program: str, *, parked: bool) -> dict[str, Any]:
    async with CodeMode({"enabled": True}, _park_every_turn=parked) as cm:
        run = cm.run(TOOLS)
        result = await run.exec({"code": program})
        output = list(result.output)
        while result.status == "waiting":
            result = await run.wait({"runId": result.run_id})
            output.extend(result.output)
    shown = result.to_dict()
    for volatile in ("telemetry", "toolCalls"):
        shown.pop(volatile, None)
    shown["output"] = output
    return shown


@pytest.mark.req("snp.1", "exe.11", "wai.1", "wai.4")
@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(program=programs())
def test_a_random_program_gives_the_same_straight_and_restored_at_every_turn(program: str) -> None:
    async def both() -> None:
        straight, parked = await asyncio.gather(
            _outcome(program, parked=False), _outcome(program, parked=True)
        )
        assert straight == parked
        assert straight["status"] in ("completed", "failed")
        if straight["status"] == "failed":
            assert re.match(r"(RangeError: end|TypeError|RangeError)", straight["error"])

    asyncio.run(both())
