from __future__ import annotations

import copy
from typing import Any

import pytest

from codemode import CodeMode, Tool
from codemode.guard import PayloadRefused, guard_payload
from codemode.surface import wait_tool

EXEC = {"type": "object", "properties": {"code": {"type": "string"}}}
WAIT = wait_tool().parameters
OTHER = {"type": "object", "properties": {"q": {"type": "string"}}}
SHAPES = ["chat", "responses", "anthropic", "gemini", "gemini_config"]


def payload(shape: str, *tools: tuple[str, Any]) -> dict[str, Any]:
    if shape == "chat":
        listed: list[Any] = [
            {"type": "function", "function": {"name": n, "parameters": p}} for n, p in tools
        ]
    elif shape == "responses":
        listed = [{"type": "function", "name": n, "parameters": p} for n, p in tools]
        listed.append({"type": "web_search"})
    elif shape == "anthropic":
        listed = [{"name": n, "input_schema": p} for n, p in tools]
        listed.append({"type": "web_search_20250305", "name": "web_search"})
    else:
        key = "functionDeclarations" if shape == "gemini" else "function_declarations"
        listed = [{key: [{"name": n, "parameters": p} for n, p in tools]}, {"googleSearch": {}}]
    if shape == "gemini_config":
        return {"model": "m", "config": {"tools": listed}}
    return {"model": "m", "tools": listed}


def names(shape: str, guarded: dict[str, Any]) -> list[str]:
    if shape == "chat":
        return [t["function"]["name"] for t in guarded["tools"]]
    if shape in ("responses", "anthropic"):
        return [t["name"] for t in guarded["tools"]]
    tools = guarded["tools"] if shape == "gemini" else guarded["config"]["tools"]
    key = "functionDeclarations" if shape == "gemini" else "function_declarations"
    assert [list(t) for t in tools] == [[key]]
    return [t["name"] for t in tools[0][key]]


@pytest.mark.req("srf.6")
@pytest.mark.parametrize("shape", SHAPES)
def test_what_is_not_approved_is_dropped_and_the_rest_stays_as_it_was(shape: str) -> None:
    given = payload(shape, ("exec", EXEC), ("search", OTHER), ("wait", WAIT), ("image", OTHER))
    before = copy.deepcopy(given)
    guarded = guard_payload(given, ["exec", "wait", "image"])
    assert names(shape, guarded) == ["exec", "wait", "image"]
    assert guarded["model"] == "m"
    assert given == before


@pytest.mark.req("srf.6")
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    ("tools", "word"),
    [
        ([], "no tools"),
        ([("exec", EXEC)], "wait 0 times"),
        ([("wait", WAIT)], "exec 0 times"),
        ([("exec", EXEC), ("exec", EXEC), ("wait", WAIT)], "exec 2 times"),
        ([("exec", EXEC), ("wait", WAIT), ("image", OTHER), ("image", OTHER)], "image 2 times"),
        ([("exec", OTHER), ("wait", WAIT)], "own"),
        ([("exec", None), ("wait", WAIT)], "own"),
    ],
)
def test_anything_else_than_the_surface_is_refused(shape: str, tools: Any, word: str) -> None:
    with pytest.raises(PayloadRefused, match=word):
        guard_payload(payload(shape, *tools), ["exec", "wait", "image"])


@pytest.mark.req("srf.6")
@pytest.mark.parametrize(
    "choice",
    [
        {"type": "function", "function": {"name": "search"}},
        {"type": "function", "name": "search"},
        {"type": "tool", "name": "search"},
    ],
)
def test_a_hidden_tool_cannot_be_forced(choice: Any) -> None:
    good = payload("chat", ("exec", EXEC), ("wait", WAIT))
    with pytest.raises(PayloadRefused, match="search"):
        guard_payload({**good, "tool_choice": choice}, ["exec", "wait"])
    for fine in ("auto", {"type": "auto"}, {"type": "tool", "name": "exec"}, None):
        guard_payload({**good, "tool_choice": fine}, ["exec", "wait"])


@pytest.mark.parametrize("odd", [{}, {"tools": None}, {"tools": "exec"}, {"tools": [None, 3]}])
def test_a_request_of_another_form_is_refused(odd: dict[str, Any]) -> None:
    with pytest.raises(PayloadRefused):
        guard_payload(odd, ["exec", "wait"])


@pytest.mark.req("srf.6", "act.4")
async def test_a_run_guards_its_own_requests_only_if_it_is_engaged() -> None:
    tool = Tool(name="search", execute=lambda *_: None)
    given = payload("chat", ("exec", EXEC), ("search", OTHER), ("wait", WAIT))
    async with CodeMode(True) as cm:
        assert names("chat", dict(cm.run([tool]).guard(given))) == ["exec", "wait"]
        with pytest.raises(PayloadRefused):
            cm.run([tool]).guard(payload("chat", ("search", OTHER)))
        assert cm.run([tool], config=False).guard(given) is given
