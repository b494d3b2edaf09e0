from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle

import pytest

from codemode import CodeModeConfig, Completed, Scope, Tool
from codemode.policy import Block, Change
from codemode.tools import ToolResult

SCOPE = Scope(run_id="r", session_id="s")


def test_dataclasses_know_a_record() -> None:
    assert dataclasses.is_dataclass(Scope)
    assert [f.name for f in dataclasses.fields(Scope)][:1] == ["agent_id"]
    assert dataclasses.replace(SCOPE, run_id="q") == Scope(run_id="q", session_id="s")
    assert dataclasses.asdict(SCOPE)["session_id"] == "s"
    config = dataclasses.replace(CodeModeConfig(enabled=True), timeout_ms=5_000)
    assert (config.enabled, config.timeout_ms) == (True, 5_000)


def test_a_record_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError, match="run_id"):
        SCOPE.run_id = "other"  # type: ignore[misc]
    with pytest.raises(AttributeError):
        del SCOPE.run_id  # type: ignore[misc]
    with pytest.raises(AttributeError):
        SCOPE.nope = 1  # type: ignore[attr-defined]
    assert not hasattr(SCOPE, "__dict__")


def test_records_are_compared_by_value_and_tools_by_identity() -> None:
    assert Scope(run_id="r", session_id="s") == SCOPE
    assert hash(Scope(run_id="r", session_id="s")) == hash(SCOPE)
    assert Scope(run_id="q") != SCOPE
    assert Block("x") != Change("x")
    tool = Tool(name="t", execute=lambda *_: None)
    assert tool != Tool(name="t", execute=tool.execute)
    assert tool in {tool}


def test_records_are_shown_pickled_and_copied() -> None:
    assert repr(Block("no")) == "Block(reason='no')"
    for made in (SCOPE, CodeModeConfig(enabled=True), Completed(value=[1], telemetry={})):
        assert pickle.loads(pickle.dumps(made)) == made
        assert copy.deepcopy(made) == made
        assert copy.copy(made) == made
    tool = Tool(name="t", execute=print, parameters={"type": "object"})
    assert "parameters_json" not in repr(tool)


def test_each_record_has_its_own_defaults() -> None:
    one, other = ToolResult(), ToolResult()
    one.content.append(1)
    assert other.content == []


def test_members_are_matched_in_order() -> None:
    match Block("no"):
        case Block(reason):
            assert reason == "no"
        case _:
            pytest.fail("no match")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Scope(nope=1), r"Scope\(\) has no argument 'nope'"),
        (lambda: Scope("r"), "keyword arguments only"),
        (lambda: Completed(value=1), "needs 'telemetry'"),
        (lambda: Block(), "needs 'reason'"),
        (lambda: Block("a", "b"), "1 positional arguments, 2 were given"),
        (lambda: Block("a", reason="b"), "'reason' twice"),
        (lambda: Tool(name="t", execute=print, parameters_json="{}"), "'parameters_json'"),
    ],
)
def test_wrong_arguments_are_named(call: object, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        call()  # type: ignore[operator]


def test_the_signature_shows_the_members() -> None:
    parameters = inspect.signature(Scope).parameters
    assert parameters["run_id"].kind is inspect.Parameter.KEYWORD_ONLY
    assert list(inspect.signature(Block).parameters) == ["reason"]
