"""Every example, run as a user runs it, says what it should."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
HELPERS = {"scripted", "weather_server"}


def run(*words: str, given: str = "") -> list[str]:
    """Lines that `python -m …` printed."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", *words],
        cwd=ROOT,
        input=given,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def test_the_readme_names_every_program_and_each_has_a_test() -> None:
    files = {path.stem for path in (ROOT / "examples").glob("*.py")} - HELPERS
    told = re.findall(r"examples\.(\w+)", (ROOT / "examples" / "README.md").read_text("utf-8"))
    assert set(told) == files
    assert len(files) >= 5
    tests = Path(__file__).read_text("utf-8")
    assert [name for name in sorted(files) if f"examples.{name}" not in tests] == []


@pytest.mark.req("cat.8", "wai.3")
def test_approval_runs_what_the_person_allows_and_nothing_else() -> None:
    lines = run("examples.approval", given="y\nn\nyes\n")
    questions = (
        "Refund A1 (30.0 EUR)? [y/N] Refund A2 (900.0 EUR)? [y/N] Refund A3 (12.5 EUR)? [y/N] "
    )
    # Only a plain y is a yes.
    denied = "openclaw:core:refund was not run: a person denied it."
    assert lines == [f"{questions}refunded A1", denied, denied]


@pytest.mark.req("cat.8", "wai.1", "wai.3")
async def test_a_person_may_take_longer_than_the_deadline() -> None:
    from examples import approval

    asked: list[str] = []

    async def ask(prompt: str) -> bool:
        asked.append(prompt)
        if len(asked) == 1:
            await asyncio.sleep(2.2)  # the program's deadline is two seconds
        return "900" not in prompt

    approval.REFUNDED.clear()
    answer = await approval.main(ask)
    assert len(asked) == 3
    assert approval.REFUNDED == ["A1", "A3"]
    assert answer.count("a person denied it") == 1


@pytest.mark.req("wai.1", "wai.3")
def test_the_long_job_is_waited_for() -> None:
    (line,) = run("examples.long_job")
    found = re.fullmatch(r"24 pages, after (\d+) times waiting\.", line)
    assert found
    assert int(found[1]) >= 2  # three seconds, by a second each


@pytest.mark.req("mcp.1", "mcp.3", "mcp.5")
def test_mcp_servers_are_read_about_and_called(tmp_path: Path) -> None:
    pytest.importorskip("mcp")
    (line,) = run("examples.mcp_servers")
    assert line == str([{"city": "Oslo", "celsius": 16}, {"city": "Lima", "celsius": 16}])
    server = ROOT / "examples" / "weather_server.py"
    own = {"mcpServers": {"sky": {"command": sys.executable, "args": [str(server)]}}}
    (tmp_path / "mcp.json").write_text(json.dumps(own))
    text = "\n".join(run("examples.mcp_servers", str(tmp_path / "mcp.json")))
    assert "getForecast" in text
    assert "sky" in text


@pytest.mark.req("ns.3")
def test_the_swarm_fans_out_and_tells_its_phases() -> None:
    assert run("examples.swarm") == [
        "Together 12 letters.",
        "phase: research",
        "phase: summary",
        "log: 3 children, 12 letters",
    ]


@pytest.fixture
def service() -> Iterator[str]:
    """`uvicorn examples.fastapi_app:app` on a free port."""
    pytest.importorskip("fastapi")
    pytest.importorskip("uvicorn")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-m", "uvicorn", "examples.fastapi_app:app", "--port", str(port)],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    assert process.stderr is not None
    try:
        log = ""
        for line in process.stderr:
            log += line
            if "Uvicorn running" in line:
                break
        else:
            pytest.fail(f"the service did not start:\n{log}")
        yield f"http://127.0.0.1:{port}"
    finally:
        process.send_signal(signal.SIGTERM)
        _, rest = process.communicate(timeout=30)
    assert process.returncode in (0, -signal.SIGTERM)
    assert "Application shutdown complete" in rest
    assert "Traceback" not in rest


@pytest.mark.req("tel.2")
async def test_the_service_answers_many_at_once_and_streams(service: str) -> None:
    httpx = pytest.importorskip("httpx")
    body: dict[str, Any] = {"prompt": "Which shipments are unpaid?"}
    async with httpx.AsyncClient(base_url=service, timeout=60) as client:
        answers = await asyncio.gather(*(client.post("/ask", json=body) for _ in range(5)))
        assert [a.json()["answer"] for a in answers] == ["Unpaid: S2, S3."] * 5
        assert answers[0].json()["metadata"] == {
            "codeModeEngaged": True,
            "assistantTurns": 2,
            "bridgeCalls": {"search": 0, "describe": 0, "call": 1},
        }
        async with client.stream("POST", "/stream", json=body) as stream:
            events = [json.loads(line) async for line in stream.aiter_lines()]
        assert [event["type"] for event in events] == ["text", "call", "result", "text"]
        assert json.loads(events[2]["content"][0]["text"])["value"] == ["S2", "S3"]
        assert (await client.post("/ask", json={})).status_code == 422
