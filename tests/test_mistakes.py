"""What a model reads after a common mistake, on both routes: it must be able to go on from it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from codemode import Completed, Failed, Tool, ToolResult

TOOLS = (
    Tool(name="get", execute=lambda given, _: given, parameters={"type": "object"}),
    Tool(name="my tool", execute=lambda given, _: given, parameters={"type": "object"}),
    *(Tool(name=name, execute=lambda *_: 0) for name in ("a-b", "a_b", "hasOwnProperty", "2fa")),
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
        ("const re = /[z-a]/", ["invalid regular expression /[z-a]/: "]),
        ("return JSON.parse({})", ["is parsed already"]),
        ("const {a: {b}} = {}", ["taken apart", "undefined"]),
        ("const [a] = undefined", ["need an array"]),
        ("for (const x of {a: 1}) ;", ["Object.entries"]),
        ("await API.read()", ["path must be a string"]),
        ("exit()", ["end the cell with return"]),
        ("await Promise.any([Promise.reject(1)])", ["AggregateError: All promises were rejected"]),
        ("await tools.get(() => 1)", ["is a function, so nothing was called"]),
        ("return tools['a-b']({})", ["tools.callValue(id, input)", '"openclaw:core:a-b"']),
        ("return tools.hasOwnProperty('x')", ['"openclaw:core:hasOwnProperty"']),
        ("return tools['2fa']({})", ['"openclaw:core:2fa"']),
        ("throw 'a reason '.repeat(400)", ['Uncaught "a reason a reason']),
        ("throw {why: 'a reason '.repeat(400), n: 1}", ['Uncaught {"why":"a reason a reason']),
        ("throw Object.create({get constructor() { throw 1 }}, {n: {value: 1}})", ["Uncaught"]),
    ],
)
async def test_the_error_says_what_to_write(make_run: Any, code: str, words: list[str]) -> None:
    result = await make_run(TOOLS).exec({"code": code})
    assert isinstance(result, Failed)
    assert all(word in result.error for word in words), result.error


@pytest.mark.req("cat.4")
@pytest.mark.parametrize("name", ["y", "", "日", "ab"])
async def test_an_unknown_name_beside_names_of_one_letter(make_run: Any, name: str) -> None:
    tools = [Tool(name=one, execute=lambda given, _: given) for one in ("x", "é")]
    result = await make_run(tools).exec({"code": f"return await tools['{name}']({{}})"})
    assert f"there is no tools.{name}" in result.error


@pytest.mark.req("gst.5")
async def test_the_fields_of_an_error_are_told(make_run: Any) -> None:
    fields = "{status: 404, body: {a: 1}, cause: new Error('deep')}"
    code = f"throw Object.assign(new Error('no'), {fields})"
    error = (await make_run().exec({"code": code})).error
    assert error.startswith("Error: no\n    at ")
    assert '\n    with {"status":404,"body":{"a":1}}' in error
    assert "Caused by: Error: deep" in error
    for code in (
        "throw new Error('no')",
        "null.x",
        "throw Object.assign(new Error('no'), {a: 'x'.repeat(9e3)})",
    ):
        assert " with {" not in (await make_run().exec({"code": code})).error


@pytest.mark.req("srf.7")
@pytest.mark.parametrize("name", ["functions.exec", "Exec", "exec ", "tools.wait"])
async def test_a_name_that_is_nearly_right_is_put_right(make_run: Any, name: str) -> None:
    error = (await make_run(TOOLS).call(name, {"code": "return 1"})).error
    assert f"the name is {name.strip().lower().split('.')[-1]}." in error


@pytest.mark.req("exe.1")
async def test_a_program_under_another_name_is_told_the_name(make_run: Any) -> None:
    error = (await make_run(TOOLS).exec({"script": "return 1", "x" * 99: 1})).error
    assert 'send {"code"' in error
    assert f"exec has no field script, {'x' * 40}." in error


@pytest.mark.req("srf.7")
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("tools.get", 'tools.callValue("openclaw:core:get"'),
        ("functions.get ", 'tools.callValue("openclaw:core:get"'),
        ("tools.search", 'tools.search("what you need")'),
        ("describe", 'tools.search("what you need")'),
        ("get.it", 'tools.search("get.it")'),
    ],
)
async def test_a_call_that_belongs_into_a_program_is_shown_as_one(
    make_run: Any, name: str, words: str
) -> None:
    run = make_run(TOOLS)
    error = (await run.call(name, {})).error
    assert "Nothing was run." in error
    shown = json.loads(error[error.index("exec(") + 5 : error.rindex(")")])
    assert words in shown["code"]
    assert (await run.exec(shown)).status == "completed"


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


@pytest.mark.req("cat.6")
@pytest.mark.parametrize(
    ("options", "found", "told"),
    [("1", 1, 0), ("{limit: 1}", 1, 0), ("{}", 2, 0), ("{limit: 'x'}", 2, 1), ("{max: 1}", 2, 1)],
)
async def test_options_of_a_search_that_say_nothing_are_told(
    make_run: Any, options: str, found: int, told: int
) -> None:
    run = make_run(TOOLS, config={"searchDefaultLimit": 2})
    result = await run.exec({"code": f"return (await tools.search('', {options})).length"})
    assert result.value == found
    assert len(result.warnings) == told
    assert all("tools.search(query, { limit })" in warning for warning in result.warnings)


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


@pytest.mark.req("gst.4")
@pytest.mark.parametrize("number", [float("nan"), float("inf")])
async def test_a_number_of_a_tool_that_json_does_not_have_is_told(
    make_run: Any, number: float
) -> None:
    odd = Tool(name="odd", execute=lambda *_: {"rows": [1.5, number]})
    result = await make_run((odd,)).exec({"code": "await tools.odd({}); return tools.odd({})"})
    assert result.value == {"rows": [1.5, None]}
    assert len(result.warnings) == 1
    assert "openclaw:core:odd held NaN" in result.warnings[0]


@pytest.mark.req("gst.4")
async def test_a_proxy_is_what_its_target_is(make_run: Any) -> None:
    code = "const p = new Proxy(new Proxy([1, 2], {}), {}); return [p, new Proxy({a: 1}, {})]"
    assert (await make_run().exec({"code": code})).value == [[1, 2], {"a": 1}]
    code = "const r = Proxy.revocable([], {}); r.revoke(); return r.proxy"
    result = await make_run().exec({"code": code})
    assert isinstance(result, Failed)
    assert "TypeError" in result.error


@pytest.mark.req("mcp.2")
@pytest.mark.parametrize("form", ["plain", "result"])
async def test_no_image_of_any_tool_crosses(make_run: Any, form: str) -> None:
    image = {"type": "image", "data": "QUJD" * 50_000, "mimeType": "image/png"}
    content = [{"type": "text", "text": "seen"}, image]
    given: Any = {"content": content, "n": 1} if form == "plain" else ToolResult(content=content)
    run = make_run((Tool(name="shot", execute=lambda *_: given),))
    result = await run.exec({"code": "return await tools.shot({})"})
    marker = {"type": "image", "mimeType": "image/png", "bytes": 150_000, "omitted": True}
    assert result.value["content"] == [content[0], marker]
    assert image["data"].startswith("QUJD")


@pytest.mark.req("exe.10")
async def test_the_time_limit_says_its_value(make_run: Any) -> None:
    result = await make_run(config={"timeoutMs": 150}).exec({"code": "for (;;);"})
    assert result.limit == "time"
    assert "150 ms" in result.error


@pytest.mark.req("exe.12")
async def test_what_a_microtask_throws_is_told(make_run: Any) -> None:
    code = "queueMicrotask(() => { throw new Error('lost') }); await null; return 1"
    result = await make_run().exec({"code": code})
    assert result.value == 1
    assert result.warnings == ("uncaught in a microtask: Error: lost (line 1, column 34)",)


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


@pytest.mark.req("gst.1")
async def test_the_locale_of_the_host_has_several_names(make_run: Any) -> None:
    code = """
      const d = new Date(0);
      return ['en-US', 'en', 'default', ['en-US', 'de'], undefined]
        .map(l => d.toLocaleDateString(l, {month: 'long'}))"""
    assert (await make_run().exec({"code": code})).value == ["January"] * 5
    for other in ("'de'", "['de', 'en-US']"):
        code = f"return new Date(0).toLocaleDateString({other})"
        assert "not available" in (await make_run().exec({"code": code})).error


@pytest.mark.req("exe.8", "gst.5")
@pytest.mark.parametrize(
    ("code", "place"),
    [
        ("const a = 1;\nconst re = /[z-a]/;\nreturn 1", (2, 12)),
        ("return 'é'.match(/(/)", (1, 18)),
        ("const {a} = /b/;\nreturn [/a/, /(?<n>a)(?<n>b)/]", (2, 14)),
        ("const a: string = 'x';\nreturn /\\p{Foo}/u.test(a)", (2, 8)),
    ],
)
async def test_a_regular_expression_that_is_none_is_located(
    make_run: Any, code: str, place: tuple[int, int]
) -> None:
    result = await make_run().exec({"code": code})
    assert (result.code, result.location) == ("invalid_input", place)
    assert result.error.endswith(f" (line {place[0]}, column {place[1]})")


@pytest.mark.req("gst.5")
@pytest.mark.parametrize(
    ("code", "place"),
    [
        ("const a = await tools.get({});\nconst {items: [first]} = a;\nreturn first", (2, 1)),
        ("const a = [];\ntext('x');\nfor (const [k] of [1]) text(k);", (3, 1)),
        ("text(1);\nconst b = 1;\nthis.x.y", (3, 1)),
    ],
)
async def test_taking_apart_what_is_not_there_is_located(
    make_run: Any, code: str, place: tuple[int, int]
) -> None:
    result = await make_run(TOOLS).exec({"code": code})
    assert result.location == place


@pytest.mark.req("exe.12", "gst.5")
@pytest.mark.parametrize(
    ("code", "warning"),
    [
        (
            "(async () => {\n  await null;\n  throw new Error('bg');\n})();\nawait 1; return 1",
            "unhandled rejection: Error: bg (line 3, column 13)",
        ),
        (
            "setTimeout(() => {\n gone; }, 1); await new Promise(r => setTimeout(r, 20)); return 1",
            "uncaught in a timer: ReferenceError: gone is not defined (line 2, column 2)",
        ),
        ("Promise.reject('x'); await 1; return 1", 'unhandled rejection: Uncaught "x"'),
    ],
)
async def test_a_failure_in_the_background_is_located(
    make_run: Any, code: str, warning: str
) -> None:
    result = await make_run().exec({"code": code})
    assert result.value == 1
    assert result.warnings == (warning,)


@pytest.mark.req("exe.5")
@pytest.mark.parametrize("code", ["const a = 1;", "const r = {}; return r.field"])
async def test_nothing_is_told_from_a_value_that_is_undefined(make_run: Any, code: str) -> None:
    (warning,) = (await make_run().exec({"code": code})).warnings
    assert "no `return value`" in warning
    assert "undefined" in warning


@pytest.mark.req("gst.3")
async def test_further_arguments_of_text_and_json_are_not_lost(make_run: Any) -> None:
    code = """
      text('total:', 5, {a: 1}); ['a', 'b'].forEach(text); text('x', 1, ['y']);
      json({a: 1}, {b: 2}); json({c: 3}, null, 2); [7].forEach(json); return 1"""
    result = await make_run().exec({"code": code})
    assert [item.get("text", item.get("value")) for item in result.output] == [
        'total: 5 {"a":1}', "a", "b", 'x 1 ["y"]', {"a": 1}, {"b": 2}, {"c": 3}, 7,
    ]  # fmt: skip
    config = {"maxOutputBytes": 1024, "outputOverflow": "truncate"}
    result = await make_run(config=config).exec({"code": "text('a'.repeat(2000), 'b'); return 1"})
    assert result.output[0]["omittedBytes"] + len(result.output[0]["text"]) == 2002


@pytest.mark.req("gst.4")
async def test_a_function_in_an_input_is_told(make_run: Any) -> None:
    result = await make_run(TOOLS).exec({"code": "return await tools.get({path: () => 1})"})
    assert result.value == {"path": "[Function: path]"}
    assert any("call it" in warning for warning in result.warnings)
    result = await make_run(TOOLS).exec({"code": "return [() => 1]"})
    assert result.warnings == ()


@pytest.mark.req("gst.1")
async def test_what_freezes_tools_finds_it_frozen(make_run: Any) -> None:
    code = """
      const same = Object.freeze(tools) === tools && Object.seal(tools) === tools;
      Object.defineProperty(tools, 'get', {value: tools.get});
      const refused = [
        () => Object.defineProperty(tools, 'x', {value: 1}),
        () => Object.defineProperty(tools, 'get', {value: 1}),
        () => Object.defineProperty(tools, 'get', {get() {}}),
        () => Object.defineProperty(tools, 'get', {writable: true}),
        () => Object.defineProperty(tools, 'get', {enumerable: false}),
        () => Object.assign(tools, {get: 1}),
      ].map(f => { try { f(); return false } catch (e) { return e instanceof TypeError } });
      return [same, Object.isFrozen(tools), 'get' in tools, ...refused]"""
    assert (await make_run(TOOLS).exec({"code": code})).value == [True] * 9


@pytest.mark.req("gst.2")
async def test_roots_are_those_of_other_engines(make_run: Any) -> None:
    numbers = "27, 10, 100, 1e-10, -8, 0, 1e30, Infinity, NaN"
    code = f"return [{numbers}].map(Math.cbrt).map(String)"
    assert (await make_run().exec({"code": code})).value == [
        "3", "2.154434690031884", "4.641588833612779", "0.0004641588833612779", "-2", "0",
        "10000000000", "Infinity", "NaN",
    ]  # fmt: skip


@pytest.mark.req("gst.2")
async def test_an_aggregate_error_has_a_message_of_its_own(make_run: Any) -> None:
    code = """
      const message = async (p) => { try { return await p } catch (e) { return e.message } };
      return [await message(Promise.any([Promise.reject(1)])), await message(Promise.any([])),
        await message(Promise.any([Promise.reject(1), 5])), new AggregateError([]).message,
        Object.keys(Promise), Object.keys(Math)]"""
    told = "All promises were rejected"
    assert (await make_run().exec({"code": code})).value == [told, told, 5, "", [], []]
