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
    for wrap in (lambda inner: [inner], lambda inner: {"a": inner}):
        deep: Any = "x"
        for _ in range(5_000):
            deep = wrap(deep)
        assert len(json.dumps(redact(deep))) < 60
    assert redact(object()) == "<object>"


@pytest.mark.req("tel.4")
@pytest.mark.parametrize("key", ["Set-Cookie", "credentials", "private_key", "passphrase"])
def test_values_of_telling_names_are_not_kept(key: str) -> None:
    shown = redact({"a": {key: CANARY, "note": "n"}})
    assert shown == {"a": {key: "[redacted]", "note": "n"}}
    assert redact({"passed": 1, "pass": CANARY})["pass"] == "[redacted]"


@pytest.mark.req("tel.4")
@pytest.mark.parametrize(
    "prefix",
    [
        "sk-",
        "pk_",
        "rk_",
        "gho_",
        "ghs_",
        "ghu_",
        "github_pat_",
        "xoxb-",
        "AKIA",
        "ASIA",
        "AIza",
        "glpat-",
        "hf_",
        "npm_",
    ],
)
def test_tokens_are_known_by_their_form_and_words_that_merely_hold_one_are_kept(
    prefix: str,
) -> None:
    token = f"{prefix}C4N4RY0123456789"
    assert redact(f"use {token} here") == "use [redacted] here"
    kept = f"a_{token}"
    assert redact(kept) == kept


@pytest.mark.req("tel.4")
def test_a_secret_across_the_cut_is_not_kept_in_part() -> None:
    text = "x" * 500 + f" sk-{CANARY}-0123456789" + " y" * 1_000
    shown = redact(text)
    assert "c4n" not in shown
    assert shown.endswith(f"… ({len(text)} characters)")


@pytest.mark.req("tel.3", "tel.4")
def test_what_a_nested_call_was_told_is_redacted_and_is_the_same_for_a_listener() -> None:
    seen: list[Any] = []
    told, kept = Trajectory(listener=seen.append), Trajectory()
    for record in (told, kept):
        record.began("c1:0", "c1", "openclaw:core:t", "t", {"token": CANARY})
        record.ended("c1:0", "c1", "openclaw:core:t", "t", "error", 0.5, f"Bearer {CANARY}")
    assert seen == told.events
    for record in (told, kept):
        began, ended = json.loads(f"[{','.join(record.to_jsonl().splitlines())}]")
        assert (began.pop("time"), ended.pop("time")) > (0, 0)
        common = {
            "callId": "c1:0",
            "parentCallId": "c1",
            "tool": "openclaw:core:t",
            "name": "t",
        }
        assert began == {"type": "call_start", **common, "input": {"token": "[redacted]"}}
        assert ended == {
            "type": "call_end",
            **common,
            "outcome": "error",
            "durationMs": 500.0,
            "error": "[redacted]",
        }


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
    full = Trajectory(limit=100)
    for n in range(101):
        full.add("x", str(n))
        assert len(full) <= 100
