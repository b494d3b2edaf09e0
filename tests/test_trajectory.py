from __future__ import annotations

import json
from typing import Any

import pytest

from codemode.trajectory import Trajectory, redact

CANARY = "c4n4ry-value"


@pytest.mark.req("tel.4", "tel.1")
@pytest.mark.parametrize(
    "value",
    [
        {"password": CANARY},
        {"api_key": CANARY, "x": 1},
        {"nested": [{"Authorization": CANARY}]},
        {"accessToken": [CANARY]},
        f"Authorization: Bearer {CANARY}",
        f"sk-{CANARY}-aaaaaaaa",
        f"ghp_{CANARY}",
        f"https://user:{CANARY}@host/x",
        f"-----BEGIN RSA PRIVATE KEY-----\n{CANARY}\n-----END RSA PRIVATE KEY-----",
    ],
)
def test_what_looks_like_a_secret_is_not_kept(value: Any) -> None:
    assert CANARY not in json.dumps(redact(value))
    assert "[redacted]" in json.dumps(redact(value))


def test_copies_are_bounded_and_ordinary_values_are_kept() -> None:
    assert redact({"a": [1, 2.5, None, True, "x"]}) == {"a": [1, 2.5, None, True, "x"]}
    assert len(json.dumps(redact("x" * 100_000))) < 600
    assert len(redact(list(range(1000)))) == 33
    assert len(redact({str(n): n for n in range(1000)})) == 33
    deep: Any = "x"
    for _ in range(5_000):
        deep = [deep]
    assert len(json.dumps(redact(deep))) < 50
    assert redact(object()) == "<object>"


@pytest.mark.req("tel.3")
def test_lines_are_json_objects_in_order() -> None:
    seen: list[Any] = []
    record = Trajectory(listener=seen.append)
    record.add("call_start", "c1", payload=("input", {"token": "t"}), name="exec")
    record.add("call_end", "c1", outcome="ok")
    lines = [json.loads(line) for line in record.to_jsonl().splitlines()]
    assert [line["type"] for line in lines] == ["call_start", "call_end"]
    assert lines[0]["input"] == {"token": "[redacted]"}
    assert lines == record.events == seen


def test_a_listener_that_raises_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    def listener(_: Any) -> None:
        raise RuntimeError

    Trajectory(listener=listener).add("call_start", "c1")
    assert "on_event" in caplog.text


def test_the_oldest_events_of_a_long_run_are_dropped_and_counted() -> None:
    record = Trajectory(limit=100)
    for n in range(250):
        record.add("x", str(n))
    assert len(record) <= 100
    assert record.dropped + len(record) == 250
    assert record.events[-1]["callId"] == "249"
