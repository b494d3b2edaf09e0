"""What a program sees of MCP, from the names to the declaration files."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from tests.mcp.helpers import config, scripted, started, tools, until

from codemode import CodeMode, Tool
from codemode.catalog import CatalogView
from codemode.mcp import McpBridge, McpServers, McpSurface

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from codemode.run import CodeModeRun

pytestmark = pytest.mark.req("mcp.1", "mcp.3", "mcp.4")

HOSTILE_SCHEMAS: dict[str, Any] = {
    "root_ref": {
        "$ref": "#/$defs/In",
        "$defs": {"In": {"type": "object", "properties": {"q": {"type": "string"}}}},
        "properties": {"label": {"type": "string"}},
        "required": ["label"],
    },
    "cycle": {"$ref": "#/$defs/A", "$defs": {"A": {"properties": {"a": {"$ref": "#/$defs/A"}}}}},
    "dangling": {"properties": {"x": {"$ref": "#/$defs/No"}, "y": {"$ref": "https://e.test/s"}}},
    "enums": {"properties": {"s": {"enum": ['say "hi"', "it's", "*/", "a\\b", "line\nbreak"]}}},
    "keys": {"properties": {"a b": {}, "__proto__": {"type": "string"}, "": {}, 'q"': {}}},
    "text": {"type": "string"},
    "true": True,
    "list": [],
    "null": None,
    "deep": {"properties": {"a": {"properties": {"b": {"properties": {"c": {"type": "null"}}}}}}},
}


@pytest.fixture
async def cm() -> AsyncIterator[CodeMode]:
    async with CodeMode(True) as code_mode:
        yield code_mode


def of(cm: CodeMode, running: McpServers) -> CodeModeRun:
    return cm.run(McpBridge(running).tools(), extensions=[McpSurface(running)])


async def value(run: CodeModeRun, code: str) -> Any:
    result = (await run.exec({"code": code})).to_dict()
    assert result["status"] == "completed", result
    return result["value"]


async def test_tools_are_called_by_camel_case_and_by_their_own_names(cm: CodeMode) -> None:
    names = ["create_issue", "create-issue", "createIssue", "delete", "then", "2fa-status", "$api"]
    async with started(**{"my-server": scripted(pages=[tools(*names)])}) as running:
        run = of(cm, running)
        got = await value(
            run,
            """
            const s = MCP.myServer;
            const said = async (f) => JSON.parse((await f({ n: 1 })).content[0].text).n;
            return {
              same: MCP["my-server"] === s,
              keys: Object.keys(s),
              called: [
                await said(s.createIssue), await said(s["create-issue"]), await said(s._2faStatus),
              ],
              frozen: Object.isFrozen(s) && Object.isFrozen(MCP),
              nothing: [typeof MCP.nope, typeof s.nope, "then" in s],
            };
            """,
        )
        assert got["same"] is True
        assert {"createIssue", "createIssue2", "createIssue3", "delete2", "then2"} <= set(
            got["keys"]
        )
        assert got["called"] == [1, 1, 1]
        assert got["frozen"] is True
        assert got["nothing"] == ["undefined", "undefined", False]


async def test_mcp_tools_are_only_in_mcp(cm: CodeMode) -> None:
    async with started(s=scripted()) as running:
        run = of(cm, running)
        got = await value(
            run,
            """
            const tries = [];
            for (const f of [tools.callValue, tools.call, tools.describe]) {
              for (const id of ["mcp:s:echo", "echo"]) {
                try { await f(id, {}); tries.push("ran"); } catch (e) { tries.push(e.message); }
              }
            }
            return [ALL_TOOLS.length, await tools.search("echo"), "echo" in tools, tries];
            """,
        )
        assert got[:3] == [0, [], False]
        assert all("MCP.<server>" in message for message in got[3])


async def test_without_mcp_tools_there_is_no_mcp(cm: CodeMode) -> None:
    async def execute(given: Any, ctx: Any) -> int:
        return 1

    run = cm.run([Tool(name="t", execute=execute)], extensions=[McpSurface()])
    assert "MCP" not in run.model_tools[0].description
    assert await value(run, "return [typeof MCP, (await API.list()).files];") == ["undefined", []]


@pytest.mark.req("mcp.2")
async def test_errors_are_values_and_refusals_are_throws(cm: CodeMode) -> None:
    results = {"bad": {"isError": True, "content": []}, "refused": "ERROR:not today"}
    server = scripted(pages=[tools("bad", "refused")], results=results)
    async with started(s=server) as running:
        run = of(cm, running)
        got = await value(
            run,
            """
            const bad = await MCP.s.bad({});
            const thrown = await MCP.s.refused({}).catch((e) => [e.name, e.message]);
            const shape = await MCP.s.bad("text").catch((e) => e.message);
            return [Object.keys(bad).sort(), bad.isError, thrown, shape];
            """,
        )
        assert got[:3] == [["content", "isError"], True, ["Error", "s: not today"]]
        assert "object" in got[3]


async def test_foreign_code_passes_untouched(cm: CodeMode) -> None:
    """An MCP server with its own `execute` and `search` is a server like any other (C18)."""
    server = scripted(pages=[tools("execute", "search", "exec")])
    async with started(hub=server) as running:
        run = of(cm, running)
        inner = 'tools.search("x"); await MCP.hub.exec({})'
        got = await value(
            run, f"return (await MCP.hub.execute({{ code: {json.dumps(inner)} }})).content[0].text;"
        )
        assert json.loads(got) == {"code": inner}


@pytest.mark.hostile
async def test_every_schema_is_declared_and_callable(cm: CodeMode) -> None:
    page = [
        {"name": name, "inputSchema": schema, "description": f"*/ evil {name} ${{x}} `"}
        for name, schema in HOSTILE_SCHEMAS.items()
    ]
    async with started(s=scripted(pages=[page])) as running:
        run = of(cm, running)
        got = await value(
            run,
            """
            const files = (await API.list("mcp")).files;
            const file = await API.read("mcp/s.d.ts");
            const header = await MCP.s.$api(undefined, { schema: true });
            const called = [];
            for (const t of header.tools) {
              called.push((await MCP.s[t.key]({ n: t.name })).content[0].text);
            }
            return { files, file, header, called };
            """,
        )
        text = got["file"]["content"]
        assert [f["path"] for f in got["files"]] == ["mcp/index.d.ts", "mcp/s.d.ts"]
        assert got["files"][1]["bytes"] == got["file"]["bytes"] == len(text.encode())
        assert [t["name"] for t in got["header"]["tools"]] == sorted(HOSTILE_SCHEMAS)
        assert got["called"] == [json.dumps({"n": name}) for name in sorted(HOSTILE_SCHEMAS)]
        for tool in got["header"]["tools"]:
            assert f"function {tool['key']}(" in text, tool
        schemas = {t["name"]: t["inputSchema"] for t in got["header"]["tools"]}
        assert schemas == HOSTILE_SCHEMAS


async def test_api_refuses_paths_that_are_not_there(cm: CodeMode) -> None:
    servers = {n: scripted() for n in ("index", "a/b", "..", "github.d.ts")}
    async with started(**servers) as running:
        run = of(cm, running)
        got = await value(
            run,
            """
            const files = (await API.list("mcp")).files.map((f) => f.path);
            const read = [];
            for (const p of files) read.push((await API.read(p)).content.length > 0);
            const refused = [];
            const bad = ["mcp/../mcp/index.d.ts", "mcp/./index.d.ts", "mcp/a/b.d.ts", "/etc/x", ""];
            for (const p of bad) {
              refused.push(await API.read(p).catch((e) => e.message.includes("no file")));
            }
            return { files, read, refused };
            """,
        )
        assert len(set(got["files"])) == 5
        assert got["files"][0] == "mcp/index.d.ts"
        assert all(
            re.fullmatch(r"mcp/\w+\.d\.ts", path) or ".d.ts" in path for path in got["files"]
        )
        assert got["read"] == [True] * 5
        assert got["refused"] == [True] * 5


async def test_api_of_one_tool_and_of_a_wrong_one(cm: CodeMode) -> None:
    async with started(s=scripted(pages=[tools("create_issue", "list_all")])) as running:
        run = of(cm, running)
        got = await value(
            run,
            """
            const one = await MCP.s.$api("createIssue");
            const same = await MCP.s.$api("create_issue");
            const wrong = await MCP.s.$api("creatIssue").catch((e) => e.message);
            return [one, JSON.stringify(one) === JSON.stringify(same), wrong];
            """,
        )
        assert got[0]["server"] == "s"
        assert [t["key"] for t in got[0]["tools"]] == ["createIssue"]
        assert "inputSchema" not in got[0]["tools"][0]
        assert got[1] is True
        assert "Did you mean createIssue?" in got[2]


@pytest.mark.hostile
async def test_a_guest_cannot_reach_another_runs_server(cm: CodeMode) -> None:
    async with started(a=scripted(), b=scripted()) as running:
        bridge = McpBridge(running)
        only_a = [t for t in bridge.tools() if t.owner == "a"]
        run = cm.run(only_a, extensions=[McpSurface(running)])
        assert await value(run, "return [Object.keys(MCP), typeof MCP.b];") == [["a"], "undefined"]


async def test_resources_and_prompts_are_there_if_the_server_has_them(cm: CodeMode) -> None:
    answers = {
        "resources/list": {"resources": [{"uri": "memo://one", "name": "one", "_meta": {}}]},
        "resources/read": {"contents": [{"uri": "memo://one", "blob": "AAAA"}]},
        "prompts/list": {"prompts": [{"name": "brief"}]},
        "prompts/get": {"messages": [{"role": "user", "content": {"type": "text", "text": "hi"}}]},
    }
    capabilities = {"tools": {}, "resources": {}, "prompts": {}}
    full = scripted(
        answers=answers, capabilities=capabilities, pages=[tools("resources", "resources.list")]
    )
    async with started(docs=full, plain=scripted()) as running:
        run = of(cm, running)
        got = await value(
            run,
            """
            const d = MCP.docs;
            return {
              list: await d.resources.list(),
              read: await d.resources.read({ uri: "memo://one" }),
              wrong: await d.resources.read({}).catch((e) => e.message),
              prompts: await d.prompts.list(),
              get: await d.prompts.get({ name: "brief", arguments: { topic: "x" } }),
              own: [typeof d.resources2, (await d["resources.list"]({ a: 1 })).content[0].text],
              plain: [typeof MCP.plain.resources, typeof MCP.plain.prompts],
              counted: (await d.$api()).tools.length,
            };
            """,
        )
        assert got["list"] == {"resources": [{"uri": "memo://one", "name": "one"}]}
        assert got["read"]["contents"][0]["omitted"] is True
        assert "uri" in got["wrong"]
        assert got["prompts"] == {"prompts": [{"name": "brief"}]}
        assert got["get"]["messages"][0]["content"]["text"] == "hi"
        assert got["own"] == ["function", '{"a": 1}']
        assert got["plain"] == ["undefined", "undefined"]
        assert got["counted"] == 2


@pytest.mark.req("mcp.5")
async def test_a_suspended_program_keeps_its_view_and_the_next_one_sees_the_change(
    cm: CodeMode,
) -> None:
    async with started(s=scripted(pages=[tools("add_tool")])) as running:
        bridge = McpBridge(running)
        run = cm.run(bridge.tools(), extensions=[McpSurface(running)])
        code = """
          const before = (await API.list()).files;
          await yield_control();
          return [Object.keys(MCP.s), (await MCP.s.$api()).tools.length, typeof MCP.s.fresh];
        """
        parked = (await run.exec({"code": code})).to_dict()
        assert parked["status"] == "waiting"
        await running.call_tool("s", "add_tool", {"name": "fresh"})
        await until(lambda: len(bridge.tools()) == 2)
        run.replace_tools(bridge.tools())
        after = (await run.wait({"runId": parked["runId"]})).to_dict()
        assert after["value"] == [["addTool", "$api"], 1, "undefined"]
        assert await value(run, "return (await MCP.s.fresh({})).content.length;") == 1


@pytest.mark.req("mcp.5")
async def test_an_unavailable_server_says_why(cm: CodeMode) -> None:
    servers = config(gone=scripted(start="exit", noise="no */ licence\u2028"), well=scripted())
    async with McpServers(servers, ready_within=60) as running:
        run = of(cm, running)
        got = await value(
            run,
            """
            return [
              (await API.read("mcp/index.d.ts")).content,
              (await API.read("mcp/gone.d.ts")).content,
              (await MCP.gone.$api()).unavailable,
            ];
            """,
        )
        assert all("licence" in text for text in got)
        assert got[1].startswith('// MCP server "gone" is unavailable: "it exited with status 3')


@pytest.mark.req("mcp.5", "gst.5")
async def test_what_is_asked_for_and_not_there_is_told(cm: CodeMode) -> None:
    servers = config(gone=scripted(start="exit"), math=scripted(pages=[tools("add", "echo")]))
    async with McpServers(servers, ready_within=60) as running:
        run = of(cm, running)
        quiet = "return [typeof MCP.nope, 'x' in MCP.math, JSON.stringify(MCP), typeof await MCP]"
        assert (await run.exec({"code": quiet})).to_dict()["value"] == [
            "undefined",
            False,
            '{"gone":{},"math":{}}',
            "object",
        ]
        for code, words in (
            ("return await MCP.gone.list({})", "gone is unavailable: it exited with status 3"),
            ("return await MCP.mathh.add({})", "there is no MCP.mathh. Close names: math"),
            ("return await MCP.nope.add({})", "there is no MCP.nope. There are: gone, math"),
            ("return await MCP.math.ad({})", "there is no MCP.math.ad. Close names: add"),
        ):
            assert words in (await run.exec({"code": code})).to_dict()["error"]


async def test_a_call_goes_through_hooks_and_telemetry_like_any_other(cm: CodeMode) -> None:
    from codemode import Block, Hooks

    class Watch(Hooks):
        def before_tool_call(self, event: Any) -> Any:
            blocked = event.tool_id == "mcp:s:secret"
            return Block("not for you") if blocked else None

    async with started(s=scripted(pages=[tools("echo", "secret")])) as running:
        run = cm.run(McpBridge(running).tools(), extensions=[McpSurface(running)], hooks=Watch())
        result = (
            await run.exec(
                {"code": "await MCP.s.echo({}); return MCP.s.secret({}).catch((e) => e.message);"}
            )
        ).to_dict()
        assert "not for you" in result["value"]
        assert result["telemetry"]["callCount"] == 2
        assert result["telemetry"]["sources"]["mcp"] == 2


def test_the_servers_that_a_program_names_are_found() -> None:
    surface = McpSurface(
        McpServers(config(**{"my-server": {"command": "c"}, "2nd": {"command": "c"}}))
    )
    found = {
        "await MCP.myServer.x({})": {"my-server"},
        'const { ["my-server"]: s } = MCP': {"my-server"},
        'API.read("mcp/my-server.d.ts")': {"my-server"},
        "const {_2nd, myServer} = MCP": {"my-server", "2nd"},
        "myServers[2ndOf]": set(),
    }
    assert {code: surface.named_in(code) for code in found} == found
    assert McpSurface().named_in("MCP.s") == set()


async def test_declarations_are_made_once_for_a_catalog() -> None:
    async with started(s=scripted()) as running:
        bridge = McpBridge(running)
        view = CatalogView(tuple(bridge.tools()), "openclaw")
        surface = McpSurface(running)
        assert surface.fetch(5, "", view) is surface.fetch(5, "", view)
        assert surface.fetch(4, "mcp/s.d.ts", view) == surface.fetch(4, "mcp/s.d.ts", view)
        assert surface.fetch(4, "agents.d.ts", view) is NotImplemented
        assert surface.fetch(1, "", view) is NotImplemented
