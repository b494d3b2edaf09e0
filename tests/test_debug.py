from __future__ import annotations

import logging
from typing import Any

import pytest

from codemode.debug import Debug, tool_names


@pytest.mark.req("tel.4")
@pytest.mark.parametrize("prefix", ["CODEMODE_DEBUG", "OPENCLAW_DEBUG"])
def test_both_spellings_switch_on(prefix: str) -> None:
    own = prefix == "CODEMODE_DEBUG"
    env = {
        prefix if own else f"{prefix}_CODE_MODE": "1",
        f"{prefix}_TRANSPORT" if own else f"{prefix}_MODEL_TRANSPORT": "1",
        f"{prefix}_PAYLOAD" if own else f"{prefix}_MODEL_PAYLOAD": "full-redacted",
        f"{prefix}_SSE": "peek",
    }
    assert Debug.from_environment(env) == Debug(
        code_mode=True, transport=True, payload="full-redacted", sse="peek"
    )


@pytest.mark.req("tel.4")
def test_off_words_and_unknown_words_switch_nothing_on() -> None:
    for word in ("", "0", "false", "off", "no", "OFF"):
        assert not Debug.from_environment({"CODEMODE_DEBUG": word}).any
    assert not Debug.from_environment({"CODEMODE_DEBUG_PAYLOAD": "everything"}).any
    assert not Debug.from_environment({}).any
    # An empty variable is one that is not set.
    both = {"CODEMODE_DEBUG": "", "OPENCLAW_DEBUG_CODE_MODE": "1"}
    assert Debug.from_environment(both).code_mode


PAYLOAD = {
    "tools": [{"type": "function", "function": {"name": "exec"}}, {"name": "wait"}],
    "headers": {"Authorization": "Bearer abc.def.ghi"},
    "messages": [{"content": "key sk-abcdefghijklmnopqrst and more"}],
    "long": "x" * 5_000,
}


@pytest.mark.req("tel.4")
def test_only_what_was_asked_for_is_logged_and_no_secret(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    Debug().log_payload(PAYLOAD)
    Debug().log_sse(0, {"type": "x"})
    Debug().log("m", a=1)
    Debug().log_request("p", "m")
    assert caplog.text == ""
    Debug(payload="tools").log_payload(PAYLOAD)
    assert '{"tools": ["exec", "wait"]}' in caplog.text
    assert "messages" not in caplog.text
    Debug(payload="full-redacted").log_payload(PAYLOAD)
    assert "and more" in caplog.text
    assert "abc.def" not in caplog.text
    assert "sk-abcdef" not in caplog.text
    assert "x" * 600 not in caplog.text


@pytest.mark.req("tel.4")
def test_no_switch_shows_what_belongs_to_another(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    Debug(payload="tools", sse="events", code_mode=True).log_request("p", "m")
    Debug(transport=True, sse="peek", code_mode=True).log_payload(PAYLOAD)
    Debug(transport=True, payload="full-redacted", code_mode=True).log_sse(0, {"type": "x"})
    Debug(transport=True, payload="full-redacted", sse="peek").log("m", a=1)
    assert caplog.text == ""
    Debug(transport=True).log_request("p", "m")
    assert '"provider": "p"' in caplog.text
    Debug(sse="events").log_sse(0, {"type": "Bearer hush", "more": "hush"})
    assert "[redacted]" in caplog.text
    assert "hush" not in caplog.text


@pytest.mark.req("tel.4")
def test_a_peek_at_a_stream_is_five_redacted_events(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    for n in range(9):
        Debug(sse="peek").log_sse(n, {"type": "delta", "n": n, "token": "hush"})
    assert [r for r in caplog.messages if '"n": 4' in r]
    assert not [r for r in caplog.messages if '"n": 5' in r]
    assert "hush" not in caplog.text


def test_names_are_found_in_every_form() -> None:
    shapes: list[Any] = [
        {"tools": [{"type": "function", "function": {"name": "a"}}, {"type": "web"}]},
        {"tools": [{"functionDeclarations": [{"name": "a"}, {"name": "web"}]}]},
        {"config": {"tools": [{"function_declarations": [{"name": "a"}]}, {"name": "web"}]}},
    ]
    assert [tool_names(shape) for shape in shapes] == [["a", "web"]] * 3
