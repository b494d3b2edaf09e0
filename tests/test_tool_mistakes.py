"""What a program reads of a tool that failed, or that could not be called as it was."""

from __future__ import annotations

import asyncio
import dataclasses
import datetime
import decimal
from typing import Any

import pydantic
import pytest

from codemode import Change, Failed, Hooks, Tool, ToolResult, tool

FAILED = "openclaw:core:bad failed"


class Group(Exception):
    """As `ExceptionGroup`, which Python 3.10 does not have."""

    def __init__(self, message: str, exceptions: list[Exception]) -> None:
        super().__init__(message)
        self.exceptions = tuple(exceptions)


@pytest.mark.req("gst.5")
@pytest.mark.parametrize(
    ("error", "words"),
    [
        (Group("", [TimeoutError()]), "openclaw:core:bad timed out."),
        (TimeoutError(), "openclaw:core:bad timed out."),
        (asyncio.TimeoutError(), "openclaw:core:bad timed out."),
        (TimeoutError("after 3 s"), "after 3 s"),
        (KeyError("customer"), "there is no key 'customer'"),
        (type("Lost", (KeyError,), {})("customer"), "there is no key 'customer'"),
        (type("Worded", (KeyError,), {"__str__": lambda _: "gone"})("customer"), "gone"),
        (NotImplementedError(), f"{FAILED} (not implemented error) without a message."),
        (AssertionError(), f"{FAILED} (assertion error) without a message."),
        (ConnectionResetError(), f"{FAILED} (connection reset error) without a message."),
        (type("Internal", (LookupError,), {})(), f"{FAILED} (lookup error) without a message."),
        (KeyError(), f"{FAILED} (key error) without a message."),
        (StopIteration(5), f"{FAILED} (stop iteration): 5"),
        (SystemExit(2), f"{FAILED} (system exit): 2"),
        (ValueError("no such port"), "no such port"),
        (FileNotFoundError(2, "No such file"), "[Errno 2] No such file"),
        (
            Group(
                "2 failed", [ValueError("inner"), Group("deep", [KeyError("k"), StopIteration(5)])]
            ),
            f"2 failed; inner; deep; there is no key 'k'; {FAILED} (stop iteration): 5",
        ),
    ],
)
async def test_a_tool_error_says_what_it_is(
    make_run: Any, error: BaseException, words: str
) -> None:
    def bad(*_: Any) -> None:
        raise error

    code = "try { await tools.bad({}) } catch (e) { return e.message }"
    result = await make_run((Tool(name="bad", execute=bad),)).exec({"code": code})
    assert result.value == words


@pytest.mark.req("cat.7")
async def test_a_failure_that_a_tool_reports_beside_a_value_is_told(make_run: Any) -> None:
    failed = Tool(
        name="failed", execute=lambda *_: ToolResult(details={"a": float("inf")}, is_error=True)
    )
    run = make_run((failed,))
    result = await run.exec({"code": "return await tools.failed({})"})
    assert result.value == {"a": None}
    assert ["reported a failure" in warning for warning in result.warnings] == [True, False]
    result = await run.exec({"code": "return await tools.call('failed', {})"})
    assert result.value["result"]["isError"] is True
    assert ["reported a failure" in warning for warning in result.warnings] == [False]


@pytest.mark.req("cat.10")
async def test_a_number_without_a_fraction_is_an_integer_for_a_tool(make_run: Any) -> None:
    @tool
    def typed(number: int, when: datetime.date | None = None, either: int | str = 0) -> str:
        """Says what it got."""
        return f"{number!r} {when!r} {either!r}"

    run = make_run((typed,))
    code = "return await tools.typed({number: 1e16, when: new Date(0), either: 'x'})"
    result = await run.exec({"code": code})
    assert result.value == f"{10**16} {datetime.date(1970, 1, 1)!r} 'x'"
    result = await run.exec({"code": "return await tools.typed({number: 1, when: 'soon'})"})
    assert isinstance(result, Failed)
    assert "when: " in result.error
    raw = {"properties": {"id": {"type": "integer"}, "x": {"type": "number"}}, "type": "object"}
    run = make_run((Tool(name="raw", execute=lambda given, _: repr(given), parameters=raw),))
    result = await run.exec({"code": "return await tools.raw({id: 1e16, x: 1e16})"})
    assert result.value == repr({"id": 10**16, "x": 1e16})


@dataclasses.dataclass
class Shipment:
    port: str
    when: datetime.date | None = None


class Crate(pydantic.BaseModel):
    weight: int

    @pydantic.field_validator("weight")
    @classmethod
    def check(cls, weight: int) -> int:
        if weight > 9:
            raise ValueError("too heavy")
        return weight


@tool
def book(
    day: datetime.date | None = None,
    days: list[datetime.date] | str = "",
    by: datetime.datetime | int | bool = 0,
    what: Shipment | None = None,
    more: dict[str, decimal.Decimal] | None = None,
    until: datetime.date | list[str] | dict[str, int] | None = None,
    ids: set[str] | str = "",
    crate: Crate | None = None,
) -> str:
    """Says what it got."""
    return repr(day or days or by or what or more or until or ids or crate)


@pytest.mark.req("cat.10")
@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("{day: 'soon'}", ["day: 'soon' is not a date like \"2024-02-29\""]),
        ("{by: 'soon'}", ["by: 'soon' is not a time like", " or it is not true or false"]),
        ("{until: 'soon'}", ["until: 'soon' is not a date like", " or it is not an array"]),
        ("{what: {port: 'x', when: 'soon'}}", ["what.when: 'soon' is not a date"]),
        ("{more: {a: '1', b: 'x'}}", ["more.b: 'x' is not a number"]),
        ("{crate: {weight: 10}}", ["crate: weight: Value error, too heavy."]),
    ],
)
async def test_a_value_that_the_tool_cannot_take_is_told_by_field(
    make_run: Any, given: str, words: list[str]
) -> None:
    result = await make_run((book,)).exec({"code": f"return await tools.book({given})"})
    assert "openclaw:core:book was not run: " in result.error
    assert "Expected input: {" in result.error
    assert all(word in result.error for word in words), result.error
    assert "Crate" not in result.error
    config = {"errorDetails": "generic"}
    result = await make_run((book,), config=config).exec(
        {"code": f"return await tools.book({given})"}
    )
    assert "was not run: its input cannot be used. Expected input: {" in result.error


@pytest.mark.req("cat.10")
@pytest.mark.parametrize(
    ("given", "value"),
    [
        ("{day: null}", "None"),
        ("{days: 'all'}", "'all'"),
        ("{days: ['2024-02-29']}", "[datetime.date(2024, 2, 29)]"),
        ("{ids: 'abc'}", "'abc'"),
        ("{ids: ['abc']}", "{'abc'}"),
        ("{by: 1e16}", "10000000000000000"),
        ("{by: true}", "True"),
        ("{until: ['x']}", "['x']"),
        ("{until: {a: 1}}", "{'a': 1}"),
    ],
)
async def test_a_member_of_a_union_takes_only_what_is_of_its_kind(
    make_run: Any, given: str, value: str
) -> None:
    result = await make_run((book,)).exec({"code": f"return await tools.book({given})"})
    assert result.value == value


@pytest.mark.req("cat.8", "cat.10")
async def test_a_hook_may_give_what_the_tool_wants(make_run: Any) -> None:
    class Give(Hooks):
        def before_tool_call(self, event: Any) -> Any:
            day, price = datetime.date(2024, 2, 29), decimal.Decimal("1.5")
            return Change({"days": {day}, "more": {"a": price}}) if event.tool_id else None

    run = make_run((book,), hooks=Give())
    result = await run.exec({"code": "return await tools.book({})"})
    assert result.value == "[datetime.date(2024, 2, 29)]"
