"""The snippets of docs/agent.md run as they are, over HTTP; only a model's name is replaced."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.agent.model_server import ModelServer
from tests.agent.test_providers import results

if TYPE_CHECKING:
    from types import CodeType

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "agent.md").read_text("utf-8")
# Heading and code of each snippet, in the order of the page.
SNIPPET = re.compile(r"^##+ ([^\n]+)\n(?:(?!^##+ ).)*?```python\n(.*?)```", re.S | re.M)
SNIPPETS = [(found[1], found[2]) for found in SNIPPET.finditer(TEXT)]
MODEL = '"anthropic:claude-opus-5"'


class Page:
    """Runs the snippets one after the other in one namespace, as `python -m asyncio` would."""

    def __init__(self) -> None:
        self.names: dict[str, Any] = {"__name__": "snippets"}

    async def run(self, heading: str) -> None:
        (source,) = [code for title, code in SNIPPETS if title == heading]
        source = source.replace(MODEL, "MODEL")
        # What annotations mean is what it is in a program of its own.
        flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        code: CodeType = compile(source, heading, "exec", flags=flags, dont_inherit=True)
        waiting = eval(code, self.names)
        if waiting is not None:
            await waiting


@pytest.fixture
async def page(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """`page(heading, *turns)` runs a snippet whose model follows the turns."""
    pytest.importorskip("anthropic")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
    monkeypatch.chdir(tmp_path)
    shared = Page()

    async def run(heading: str, *turns: Any) -> ModelServer:
        async with ModelServer(*turns) as server:
            monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
            await shared.run(heading)
        assert server._turns == []
        return server

    run.names = shared.names  # type: ignore[attr-defined]
    return run


def program(code: str) -> dict[str, Any]:
    return {"calls": [("exec", {"code": code})]}


def say_value(body: Any) -> dict[str, Any]:
    return {"text": f"It is {json.loads(results(body)[-1][1])['value']}."}


FIRST = (
    program("return (await tools.list_shipments({port: 'Gdansk'})).filter((s) => !s.paid).length"),
    say_value,
)


def test_every_snippet_is_run_here() -> None:
    assert len(SNIPPETS) == TEXT.count("```python")
    tests = Path(__file__).read_text("utf-8")
    assert [title for title, _ in SNIPPETS if f'page("{title}"' not in tests] == []


async def test_the_loop_and_restart_recovery(page: Any, capsys: Any, tmp_path: Path) -> None:
    await page("The loop", *FIRST)
    said, metadata = capsys.readouterr().out.splitlines()
    assert said == "It is 5."
    told = ast.literal_eval(metadata)
    assert told["assistantTurns"] == 2
    assert told["bridgeCalls"]["call"] == 1
    assert told["costUsd"] > 0

    await page("Restart recovery", *FIRST)
    assert capsys.readouterr().out == "It is 5.\n"
    # As after a kill: the last line, which was the answer, is not there.
    talk = tmp_path / "talk.jsonl"
    talk.write_text("".join(talk.read_text().splitlines(keepends=True)[:-1]))
    server = await page("Restart recovery", {"text": "Five."})
    assert capsys.readouterr().out == "Five.\n"
    assert len(results(server.requests[0][1])) == 1


async def test_your_own_loop(page: Any, capsys: Any) -> None:
    await page("The loop", *FIRST)
    capsys.readouterr()
    await page("Your own loop")
    told, metadata = capsys.readouterr().out.splitlines()
    assert json.loads(told) == {"status": "completed", "value": "paid S1"}
    assert ast.literal_eval(metadata)["costUsd"] == 0.01
    assert sorted(t["name"] for t in page.names["request"]["tools"]) == ["exec", "wait"]


async def test_approval(page: Any, capsys: Any) -> None:
    await page("The loop", *FIRST)
    capsys.readouterr()
    pay = """
        const said = [];
        for (const shipment_id of ["S1", "S3"])
          said.push(await tools.pay({shipment_id}).catch((e) => e.message));
        return said;
    """
    await page("Approval", program(pay), say_value)
    said = capsys.readouterr().out
    assert "paid S1" in said
    assert "paid S3" not in said
    assert "a person denied it" in said


async def test_extensions(page: Any, capsys: Any) -> None:
    await page("The loop", *FIRST)
    capsys.readouterr()
    code = """
        const paid = await billing.pay("S1");
        return [paid, billing.currency, await agents.run("How is Gdansk?")];
    """
    await page("Extensions", program(code), {"text": "fine"}, say_value)
    assert capsys.readouterr().out == "It is ['paid S1', 'EUR', 'fine'].\n"


async def test_pydantic_ai(page: Any, capsys: Any) -> None:
    pytest.importorskip("pydantic_ai")
    from pydantic_ai.models.function import FunctionModel
    from tests.agent.pydantic_script import Script

    script = Script(
        ("exec", {"code": "return await tools.count_ships({port: 'Gdansk'})"}),
        lambda results: f"It is {results[0].content['value']}.",
    )
    page.names["MODEL"] = FunctionModel(script)
    await page("pydantic-ai")
    assert capsys.readouterr().out == "It is 6.\n"
    assert script.shown == [["exec", "wait"]] * 2


async def test_langchain(page: Any, capsys: Any) -> None:
    pytest.importorskip("langchain")
    from tests.agent.test_langchain import Scripted

    model = Scripted(
        turns=[
            [("exec", {"code": "return await tools.count_boats({port: 'Gdansk'})"})],
            lambda messages: f"It is {json.loads(messages[-1].content)['value']}.",
        ]
    )
    await page("The loop", *FIRST)
    capsys.readouterr()
    page.names["MODEL"] = model
    await page("LangChain")
    assert capsys.readouterr().out == "It is 6.\n"
    assert sorted(one["function"]["name"] for one in model.bound) == ["exec", "wait"]


async def test_fastmcp(page: Any, capsys: Any) -> None:
    pytest.importorskip("fastmcp")
    await page("FastMCP")
    assert "12" in capsys.readouterr().out
