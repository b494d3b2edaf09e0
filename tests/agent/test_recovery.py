"""A host process is killed in the middle of a turn, and another one goes on from its transcript."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from codemode.agent import Transcript

if TYPE_CHECKING:
    from collections.abc import Callable

HOST = Path(__file__).with_name("recovery_host.py")


def until(condition: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end
        time.sleep(0.02)


def kill_in_the_middle(scenario: str, directory: Path, condition: Callable[[], bool]) -> None:
    process = subprocess.Popen(
        [sys.executable, str(HOST), scenario, str(directory)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        until(condition, process)
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()


def go_on(scenario: str, directory: Path) -> str:
    (directory / "go").touch()
    done = subprocess.run(
        [sys.executable, str(HOST), scenario, str(directory)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def log(directory: Path) -> list[str]:
    path = directory / "log"
    return path.read_text().split("\n")[:-1] if path.exists() else []


def entries(directory: Path) -> list[dict[str, Any]]:
    path = directory / "transcript.jsonl"
    lines = path.read_text().splitlines(keepends=True) if path.exists() else []
    return [json.loads(line) for line in lines if line.endswith("\n")]


def waits(directory: Path) -> bool:
    calls = [call for entry in entries(directory) for call in entry.get("calls", ())]
    return any(call["name"] == "wait" for call in calls)


@pytest.mark.req("rec.1", "exe.15")
async def test_a_restart_safe_program_goes_on_in_a_new_process(tmp_path: Path) -> None:
    kill_in_the_middle("safe", tmp_path, lambda: waits(tmp_path) and bool(log(tmp_path)))
    before = entries(tmp_path)
    assert before[2]["status"] == "waiting"
    assert before[2]["replaySafe"] is True
    answer = json.loads(go_on("safe", tmp_path))
    assert (answer["status"], answer["value"]) == ("completed", 30)
    assert log(tmp_path) == ["read 1", "read 1", "read 2"]
    after = Transcript(tmp_path / "transcript.jsonl")
    assert after.unanswered() == []
    assert not after.is_interrupted
    # The replayed cell is another one, with another runId; the model was told.
    ids = [e["runId"] for e in after if e["role"] == "tool" and "runId" in e]
    assert ids[0] != ids[1]


@pytest.mark.req("rec.1")
async def test_it_may_be_killed_twice(tmp_path: Path) -> None:
    kill_in_the_middle("safe", tmp_path, lambda: waits(tmp_path) and bool(log(tmp_path)))
    known = len(entries(tmp_path))
    kill_in_the_middle("safe", tmp_path, lambda: len(entries(tmp_path)) >= known + 2)
    assert json.loads(go_on("safe", tmp_path))["value"] == 30


@pytest.mark.req("rec.1")
async def test_a_program_with_effects_is_not_repeated_and_the_model_is_told(
    tmp_path: Path,
) -> None:
    kill_in_the_middle("effects", tmp_path, lambda: log(tmp_path) == ["send a", "read 1"])
    told, refused = go_on("effects", tmp_path).split("\n")
    assert "restarted" in told
    assert "openclaw:core:send (ok)" in told
    # The model tried again in the same turn; only replay-safe tools run in it.
    assert json.loads(refused)["status"] in ("failed", "waiting")
    assert log(tmp_path) == ["send a", "read 1"]


async def test_a_line_that_a_crash_cut_off_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    first = Transcript(path)
    first.add("user", text="hé \ud800 \u2028")
    with path.open("a") as file:
        file.write('{"role": "assis')
    again = Transcript(path)
    assert [entry["text"] for entry in again] == ["hé \ud800 \u2028"]
    again.add("user", text="more")
    assert len(Transcript(path)) == 2
    path.write_text('{"role": "user"}\n[]\n{"role": "user"}\n')
    with pytest.raises(ValueError, match="line 2"):
        Transcript(path)
