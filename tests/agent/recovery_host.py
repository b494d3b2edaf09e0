"""A host program for the recovery tests: `recovery_host.py SCENARIO DIRECTORY`.

A first process is killed by the test while a call of its model is under way; a second one finds
the transcript and goes on. The tool blocks until the file `go` exists.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from examples.scripted import ScriptedModel

from codemode import CodeMode, Tool
from codemode.agent import Agent, Transcript

CODE = """
const first = await tools.callValue("openclaw:core:read_row", {n: 1});
const second = await tools.callValue("openclaw:core:read_row", {n: 2});
return first + second;
"""
EFFECTS = """
await tools.callValue("openclaw:core:send", {to: "a"});
return await tools.callValue("openclaw:core:read_row", {n: 1});
"""


def tools(directory: Path) -> list[Tool]:
    def note(word: str) -> None:
        with (directory / "log").open("a") as log:
            log.write(word + "\n")

    async def read_row(given: Any, _: Any) -> int:
        note(f"read {given['n']}")
        while not (directory / "go").exists():  # noqa: ASYNC110 -- another process makes it
            await asyncio.sleep(0.02)
        return int(given["n"]) * 10

    async def send(given: Any, _: Any) -> str:
        note(f"send {given['to']}")
        return "sent"

    return [
        Tool(name="read_row", execute=read_row, replay_safe=True),
        Tool(name="send", execute=send),
    ]


def wait_or_say(seen: Any) -> Any:
    last = json.loads(seen.results[-1])
    return {"wait": last["runId"]} if last["status"] == "waiting" else seen.results[-1]


def start(scenario: str) -> dict[str, Any]:
    if scenario == "effects":
        return {"exec": EFFECTS}
    return {"calls": [("exec", {"code": CODE, "restartSafe": True})]}


async def main(scenario: str, directory: Path) -> None:
    transcript = Transcript(directory / "transcript.jsonl")
    turns: list[Any] = [wait_or_say] * 8
    if not len(transcript):
        turns.insert(0, start(scenario))
    elif scenario == "effects":
        turns = [lambda seen: {"exec": EFFECTS}, lambda seen: "\n".join(seen.results)]
    async with CodeMode(True) as cm:
        model = ScriptedModel(*turns)
        async with Agent(cm, model, tools=tools(directory), transcript=transcript) as agent:
            answer = await (agent.resume() if transcript.is_interrupted else agent.ask("go"))
            print(answer.text)


asyncio.run(main(sys.argv[1], Path(sys.argv[2])))
