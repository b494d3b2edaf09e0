"""What a model reads after a common mistake, on both routes: it must be able to go on from it."""

from __future__ import annotations

import datetime
from typing import Any

import pytest

from codemode import Completed, Failed, Tool, tool

TOOLS = (
    Tool(name="get", execute=lambda given, _: given, parameters={"type": "object"}),
    Tool(name="my tool", execute=lambda given, _: given, parameters={"type": "object"}),
)


@pytest.mark.req("gst.5")
@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("const r = tools.get({items: [1]});\nreturn r.items.length", ["`await`"]),
        ("const [a] = tools.get({});\nreturn a", ["`await`"]),
        ("tools.get({}).forEach(x => x)", ["`await`"]),
        ("return get({})", ["await tools.get("]),
        ("return search('x')", ["await tools.search("]),
        ("return tools['openclaw:core:get']({})", ['callValue("openclaw:core:get"']),
        ("return tools['my tool']({})", ["my_tool"]),
        ("throw 'a reason '.repeat(400)", ['Uncaught "a reason a reason']),
    ],
)
async def test_the_error_says_what_to_write(make_run: Any, code: str, words: list[str]) -> None:
    result = await make_run(TOOLS).exec({"code": code})
    assert isinstance(result, Failed)
    assert all(word in result.error for word in words), result.error


@pytest.mark.req("gst.5")
async def test_an_error_of_ones_own_without_a_running_call_has_no_advice_on_await(
    make_run: Any,
) -> None:
    result = await make_run(TOOLS).exec({"code": "await tools.get({}); const a = {}; a.b.c"})
    assert "await" not in result.error


@pytest.mark.req("gst.5")
@pytest.mark.parametrize(
    "head",
    ["class E extends Error {}", "class E extends Error { constructor(m) { super(m) } }"],
)
async def test_an_error_of_the_programs_own_class_is_where_it_was_thrown(
    make_run: Any, head: str
) -> None:
    result = await make_run().exec(
        {"code": f"{head}\nconst f = () => {{\n  throw new E('no') }};\nf()"}
    )
    assert result.location == (3, 13)


@pytest.mark.req("gst.4")
async def test_nothing_is_called_with_a_promise_for_its_input(make_run: Any) -> None:
    seen: list[Any] = []
    drop = Tool(name="drop", execute=lambda given, _: seen.append(given))
    code = "return await tools.drop(tools.search('x'))"
    result = await make_run((drop,)).exec({"code": code})
    assert isinstance(result, Failed)
    assert "is a promise" in result.error
    assert "`await`" in result.error
    assert seen == []


@pytest.mark.req("gst.4")
@pytest.mark.parametrize(
    "code",
    [
        "return {keys: new Map([['a', 1]]).keys()}",
        "return 'abc'.matchAll(/./g)",
        "function* g() {} json(g())",
        "await tools.get({a: [1].values().map(x => x)})",
    ],
)
async def test_an_iterator_that_becomes_nothing_is_told(make_run: Any, code: str) -> None:
    result = await make_run(TOOLS).exec({"code": code})
    assert isinstance(result, Completed)
    assert any("an iterator" in warning and "[...it]" in warning for warning in result.warnings)


@pytest.mark.req("gst.4")
@pytest.mark.parametrize(
    "code", ["return {}", "return [{}, new (class A {})()]", "return Object.create(null)"]
)
async def test_what_is_empty_is_no_iterator(make_run: Any, code: str) -> None:
    assert (await make_run().exec({"code": code})).warnings == ()


@pytest.mark.req("gst.4")
async def test_an_exception_of_the_web_has_name_and_message(make_run: Any) -> None:
    result = await make_run().exec({"code": "try { atob('%') } catch (e) { return {e, n: 1} }"})
    assert result.value["e"]["name"] == "InvalidCharacterError"
    assert result.value["e"]["message"]
    assert result.value["n"] == 1


@pytest.mark.req("exe.12")
async def test_what_a_microtask_throws_is_told(make_run: Any) -> None:
    code = "queueMicrotask(() => { throw new Error('lost') }); await null; return 1"
    result = await make_run().exec({"code": code})
    assert result.value == 1
    assert result.warnings == ("uncaught in a microtask: Error: lost",)


@pytest.mark.req("gst.4")
@pytest.mark.parametrize("power", [2**63, 2**63 - 1, 2**63 + 1, 2**64, 2**53, 2**31])
async def test_integers_at_every_border_cross_in_both_directions(make_run: Any, power: int) -> None:
    echo = Tool(name="echo", execute=lambda given, _: [given["n"], -power, power])
    code = f"json(-{power}n); return await tools.echo({{n: -{power}n}})"
    result = await make_run((echo,)).exec({"code": code})
    assert result.value == [-power, -power, power]
    assert result.output[0]["value"] == -power


@pytest.mark.req("gst.3")
@pytest.mark.parametrize(
    ("code", "value", "omitted"),
    [
        ("return {['k'.repeat(9000)]: 1}", {}, 9_004),
        ("return {a: 1, ['k'.repeat(9000)]: 1, b: 2}", {"a": 1}, 9_011),
        ("return new Map([['a', 1], ['k'.repeat(9000), 2]])", {"a": 1}, 9_005),
        ("return 10n ** 3000n", None, 2_997),
        ("return [1, 10n ** 3000n]", [1, None], 2_997),
    ],
)
async def test_what_cannot_be_cut_in_the_middle_is_left_out(
    make_run: Any, code: str, value: Any, omitted: int
) -> None:
    config = {"maxOutputBytes": 1024, "outputOverflow": "truncate"}
    result = await make_run(config=config).exec({"code": code})
    assert result.value == value
    assert any(f"{omitted} bytes" in warning for warning in result.warnings), result.warnings


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
