from __future__ import annotations

import random
from typing import Any

import pytest

from codemode import CodeMode, Tool
from codemode.catalog import CatalogCache, CatalogView, LookupFailed


def made(name: str, description: str = "", **kwargs: Any) -> Tool:
    async def execute(value: Any, _: Any) -> Any:
        return [name, kwargs.get("owner"), value]

    return Tool(name=name, description=description, execute=execute, **kwargs)


def view(*tools: Tool, native_source: str = "openclaw") -> CatalogView:
    return CatalogView(tools, native_source)


def ids(catalog: CatalogView) -> list[str]:
    return [tool_id for tool_id, _ in catalog.guest]


MIXED = (
    made("select_file", source="client"),
    made("create_issue", source="mcp", owner="github"),
    made("browser_request", owner="browser"),
    made("message"),
    made("upload", source="client", owner="web"),
)


@pytest.mark.req("cat.1")
def test_ids_tell_source_and_owner_and_do_not_depend_on_the_order_of_the_list() -> None:
    for seed in range(5):
        tools = list(MIXED)
        random.Random(seed).shuffle(tools)
        catalog = view(*tools)
        assert ids(catalog) == [
            "client:app:select_file",
            "client:web:upload",
            "openclaw:browser:browser_request",
            "openclaw:core:message",
        ]
        assert [tool_id for tool_id, _ in catalog.mcp] == ["mcp:github:create_issue"]
        assert catalog.sources == {"openclaw": 2, "mcp": 1, "client": 2}


@pytest.mark.req("cat.1")
def test_the_word_for_native_tools_may_be_set() -> None:
    assert ids(view(made("a"), native_source="acme")) == ["acme:core:a"]


@pytest.mark.req("cat.1")
def test_tools_with_the_same_id_stay_apart_in_the_same_way_in_any_order(
    caplog: pytest.LogCaptureFixture,
) -> None:
    one, two = made("x", "one"), made("x", "two")
    for tools in ((one, two), (two, one)):
        catalog = view(*tools)
        assert catalog.guest == (("openclaw:core:x", one), ("openclaw:core:x~2", two))
        assert "share the id" in catalog.warnings[0]
    assert "share the id" in caplog.text


def test_a_tool_without_a_name_is_dropped_and_its_neighbours_stay() -> None:
    catalog = view(made(""), made("2fa-status"), made("  "), made("read_file"))
    assert ids(catalog) == ["openclaw:core:2fa-status", "openclaw:core:read_file"]
    assert len(catalog.warnings) == 2


@pytest.mark.req("cat.2", "exe.9")
def test_controls_and_direct_tools_are_left_out_and_a_shell_called_exec_is_not() -> None:
    names = ("exec", "wait", "tool_search_code", "tool_search", "tool_describe", "tool_call")
    catalog = view(*(made(name) for name in names), made("image", direct_only=True))
    assert ids(catalog) == ["openclaw:core:exec", "openclaw:core:wait"]
    assert [t.name for t in catalog.direct] == ["image"]
    assert ids(view(made("tool_search", source="client"))) == ["client:app:tool_search"]


@pytest.mark.req("cat.4")
def test_a_tool_is_found_by_id_then_by_its_only_exact_name() -> None:
    catalog = view(made("Read"), made("read"), made("search", owner="a"), made("search", owner="b"))
    assert catalog.resolve("openclaw:core:Read")[1].name == "Read"
    assert catalog.resolve("read")[1].name == "read"
    with pytest.raises(LookupFailed) as caught:
        catalog.resolve("search")
    assert "openclaw:a:search" in str(caught.value)
    assert "openclaw:b:search" in str(caught.value)
    with pytest.raises(LookupFailed, match="Read"):
        catalog.resolve("READ")


@pytest.mark.req("cat.4")
def test_an_unknown_name_gets_close_ids_and_the_way_to_search() -> None:
    catalog = view(made("write"), made("read"), made("message"))
    with pytest.raises(LookupFailed) as caught:
        catalog.resolve("file_write")
    assert "openclaw:core:write" in str(caught.value)
    assert "tools.search" in str(caught.value)


READ = {
    "type": "object",
    "properties": {"limit": {"type": "integer"}, "path": {"type": "string"}},
    "required": ["path"],
}
TEXT = {
    "type": "object",
    "properties": {"text": {"type": "string"}},
    "required": ["text"],
    "additionalProperties": False,
}


@pytest.mark.req("cat.3")
def test_entries_are_compact_and_schemas_come_with_describe() -> None:
    native = made("read", "Reads.", label="Read", parameters=READ, output_schema=TEXT)
    foreign = made("pick", "Picks.", source="client", parameters=READ, output_schema=TEXT)
    catalog = view(native, foreign)
    assert catalog.entries == [
        {
            "id": "client:app:pick",
            "name": "pick",
            "description": "Picks.",
            "source": "client",
            "sourceName": "app",
            "input": "unknown",
        },
        {
            "id": "openclaw:core:read",
            "name": "read",
            "label": "Read",
            "description": "Reads.",
            "source": "openclaw",
            "sourceName": "core",
            "input": "{ path: string; limit?: number }",
            "output": "{ text: string }",
        },
    ]
    described = catalog.describe("read")
    assert described["parameters"] == READ
    assert described["outputSchema"] == TEXT
    assert "outputSchema" not in catalog.describe("pick")
    assert catalog.describe("pick")["parameters"] == READ


@pytest.mark.req("cat.6")
def test_search_finds_and_a_blank_query_is_the_first_page() -> None:
    catalog = view(
        made("list_shipments", "Lists shipments of a port."),
        made("portfolio", "Показать портфель пользователя"),
        made("orders", "查询订单状态"),
        made("readFile", "Reads a local file."),
        made("sendEmail", "Sends a message."),
        made("getProfile", "A profile with name and e-mail."),
    )

    def found(query: str) -> list[str]:
        return [entry["name"] for entry in catalog.search(query, 8)]

    assert found("shipment")[0] == "list_shipments"
    assert found("портфель") == ["portfolio"]
    assert found("订单") == ["orders"]
    assert found("read file")[0] == "readFile"
    assert found("zebra") == []
    assert sorted(found("mail")) == sorted(found("e-mail")) == ["getProfile", "sendEmail"]
    assert found("email")[0] == "sendEmail"
    assert found("  ") == found("*") == [t.name for _, t in catalog.guest]
    assert len(catalog.search("", 2)) == 2


def test_the_same_tools_give_the_same_view() -> None:
    cache = CatalogCache(size=2)
    tools = (made("a"), made("b"))
    first = cache.view(tools, "openclaw")
    assert cache.view(list(tools), "openclaw") is first
    assert cache.view(tools, "acme") is not first
    assert cache.view((*tools, made("c")), "openclaw") is not first
    assert cache.view(tools, "openclaw") is not first, "only the newest are kept"


# In the guest


def code(text: str) -> dict[str, Any]:
    return {"code": text}


@pytest.mark.req("cat.2", "cat.3", "gst.1")
async def test_the_guest_sees_native_and_client_tools_only(make_run: Any) -> None:
    run = make_run((*MIXED, made("image", direct_only=True)))
    result = await run.exec(
        code(
            """
            const names = ALL_TOOLS.map((t) => t.id);
            const found = (await tools.search("issue image message")).map((t) => t.name);
            const tries = [];
            for (const id of ["mcp:github:create_issue", "create_issue", "image"]) {
              for (const f of [tools.callValue, tools.call, tools.describe]) {
                try { await f(id, {}); tries.push("ran"); } catch (e) { tries.push("no"); }
              }
            }
            return {names, found, tries};
            """
        )
    )
    value = result.to_dict()["value"]
    assert value["names"] == ids(view(*MIXED))
    assert value["found"] == ["message"]
    assert set(value["tries"]) == {"no"}
    assert result.telemetry["searchCount"] == 1


@pytest.mark.req("cat.2")
async def test_a_denied_tool_is_absent_and_cannot_be_guessed(make_cm: Any) -> None:
    class NoWrites:
        def allows(self, tool: Tool, scope: Any) -> bool:
            return tool.name != "write"

    run = make_cm().run([made("read"), made("write")], policy=NoWrites())
    result = await run.exec(
        code(
            """
            const out = [ALL_TOOLS.length, typeof tools.write];
            try { await tools.callValue("openclaw:core:write", {}); }
            catch (e) { out.push(e.message); }
            return out;
            """
        )
    )
    assert result.value[:2] == [1, "undefined"]
    assert "no tool" in result.value[2]


@pytest.mark.req("cat.5")
async def test_convenience_names_call_and_clashes_tell_the_ids(make_run: Any) -> None:
    run = make_run(
        [
            made("get-user"),
            made("get_user"),
            made("get.user"),
            made("web.search"),
            made("2fa-status"),
            made("search", owner="p"),
            made("then"),
        ]
    )
    result = await run.exec(
        code(
            """
            const out = [await tools.web_search({q: 1}), typeof tools.then];
            out.push((await tools) === tools);
            out.push(typeof tools.get_user);
            out.push((await tools.search("fa")).length > 0);
            out.push(await tools.callValue("2fa-status", {}));
            return out;
            """
        )
    )
    value = result.to_dict()["value"]
    assert value[0] == ["web.search", None, {"q": 1}]
    assert value[1:3] == ["undefined", True]
    assert value[3] == "undefined"
    assert value[4] is True
    assert value[5] == ["2fa-status", None, {}]
    clash = await run.exec(code("return await tools.get_user({})"))
    assert clash.status == "failed"
    for name in ("get-user", "get_user", "get.user"):
        assert f"openclaw:core:{name}" in clash.error


@pytest.mark.req("cat.9")
async def test_a_declared_output_is_enforced_and_never_printed(make_run: Any) -> None:
    ran: list[str] = []

    def tool(name: str, value: Any, schema: Any) -> Tool:
        def execute(*_: Any) -> Any:
            ran.append(name)
            return value

        return Tool(name=name, execute=execute, output_schema=schema)

    run = make_run(
        [
            tool("good", {"text": "x"}, TEXT),
            tool("wrong", {"text": "hush", "more": "hush"}, TEXT),
            tool("invalid", {}, {"type": "nonsense"}),
            tool("remote", {"a": 1}, {"$ref": "https://127.0.0.1:1/schema.json"}),
        ]
    )
    result = await run.exec(
        code(
            """
            const out = [];
            for (const name of ["good", "wrong", "invalid", "remote"]) {
              try { out.push(await tools.callValue(name, {})); } catch (e) { out.push(e.message); }
            }
            return out;
            """
        )
    )
    good, wrong, invalid, _ = result.value
    assert good == {"text": "x"}
    assert "declared form" in wrong
    assert "hush" not in wrong
    assert "not run" in invalid
    assert "invalid" not in ran


@pytest.mark.req("cat.10")
async def test_arguments_are_checked_before_the_tool_runs(make_run: Any) -> None:
    ran: list[Any] = []
    schema = {
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "note": {"type": "string"},
        },
        "required": ["path"],
    }

    def execute(value: Any, _: Any) -> Any:
        ran.append(value)
        return value

    run = make_run([Tool(name="ID", execute=execute, parameters=schema)])
    result = await run.exec(
        code(
            """
            const out = [];
            for (const input of [undefined, {file_path: "x"}, {path: 5}, "plain", [1],
                                 '{"path":"p"}',
                                 {path: "p", tags: '["a","b"]', note: '{"keep":"as string"}'}]) {
              try { out.push(await tools.callValue("ID", input)); }
              catch (e) { out.push(e.message); }
            }
            return out;
            """
        )
    )
    *errors, parsed, coerced = result.value
    for error in errors:
        assert "not run" in error
        assert "path: string" in error
    assert "path" in errors[0]
    assert parsed == {"path": "p"}
    assert coerced == {"path": "p", "tags": ["a", "b"], "note": '{"keep":"as string"}'}
    assert ran == [parsed, coerced]


@pytest.mark.req("cat.11", "tel.1")
async def test_a_client_tool_that_is_appended_is_seen_by_the_next_cell_only(make_run: Any) -> None:
    run = make_run([made("a")])
    parked = await run.exec(code("await yield_control(); return ALL_TOOLS.length"))
    scope = parked.telemetry["counterScope"]
    run.append_client_tools([made("b", source="client")])
    assert (await run.wait({"runId": parked.run_id})).value == 1
    after = await run.exec(code("return [ALL_TOOLS.length, await tools.b({x: 1})]"))
    assert after.value == [2, ["b", None, {"x": 1}]]
    assert after.telemetry["counterScope"] == scope
    run.replace_tools([made("c")])
    replaced = await run.exec(code("return ALL_TOOLS.map((t) => t.name)"))
    assert replaced.value == ["c"]
    assert replaced.telemetry["counterScope"] != scope


@pytest.mark.req("tel.1", "tel.2")
async def test_each_kind_of_call_is_counted_and_a_replaced_catalog_counts_anew(
    make_run: Any,
) -> None:
    run = make_run(MIXED)
    program = """
        for (const query of ["a", "b", "c"]) await tools.search(query);
        await tools.describe("message");
        await tools.describe("message");
        await tools.message({});
    """
    counts = ("searchCount", "describeCount", "callCount")
    first = (await run.exec(code(program))).telemetry
    assert [first[name] for name in counts] == [3, 2, 1]
    assert first["catalogSize"] == 5
    assert first["sources"] == {"openclaw": 2, "mcp": 1, "client": 2}
    for calls in (2, 3):
        run.replace_tools([made("c")])
        after = (await run.exec(code("await tools.c({})"))).telemetry
        assert [after[name] for name in counts] == [0, 0, 1]
        assert after["catalogSize"] == 1
        total = {"search": 3, "describe": 2, "call": calls}
        assert run.metadata["bridgeCalls"] == total


@pytest.mark.req("cat.11")
async def test_no_run_sees_the_tools_of_another() -> None:
    async with CodeMode(True) as cm:
        one, two = cm.run([made("a")]), cm.run([made("b")])
        for run, name in ((one, "a"), (two, "b")):
            result = await run.exec(code("return ALL_TOOLS.map((t) => t.name)"))
            assert result.to_dict()["value"] == [name]
