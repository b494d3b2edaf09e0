"""MCP, swarm, nodes and plugin namespaces in one run: files, names, and who serves what."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.mcp.helpers import scripted, started, tools

from codemode import CodeMode, Completed, Tool
from codemode.agent import LoopSpawner
from codemode.extensions import (
    Bind,
    ChildRequest,
    ChildResult,
    Limits,
    Namespace,
    Namespaces,
    Nodes,
    Swarm,
)
from codemode.mcp import McpBridge, McpSurface

if TYPE_CHECKING:
    from codemode.mcp import McpServers


class Echo:
    """A spawner whose children repeat their prompt."""

    async def spawn(self, request: ChildRequest) -> ChildResult:
        return ChildResult(run_id="c1", text=f"child: {request.prompt}")


async def devices(given: Any, _: Any) -> Any:
    return [{"id": "n1", "name": "phone", "commands": []}]


async def shout(given: Any, _: Any) -> Any:
    return str(given["text"]).upper()


NATIVE = (
    Tool(name="nodes", execute=devices),
    Tool(name="shout", execute=shout, owner="mail"),
    # Tools may have the names of globals: they are not where the globals are.
    Tool(name="agents", execute=shout),
    Tool(name="MCP", execute=shout),
    Tool(name="API", execute=shout),
)
MAIL = Namespace(name="mail", owner="mail", scope={"shout": Bind("shout", ("text",))})


def run_of(cm: CodeMode, servers: McpServers, *, swarm_first: bool = False) -> Any:
    surface, swarm = McpSurface(servers), Swarm(Echo())
    pair = [swarm, surface] if swarm_first else [surface, swarm]
    return cm.run(
        [*NATIVE, *McpBridge(servers).tools()],
        extensions=[*pair, Nodes(), Namespaces([MAIL])],
    )


async def value(run: Any, code: str) -> Any:
    result = await run.exec({"code": code})
    assert isinstance(result, Completed), result
    return result.value


@pytest.mark.req("mcp.3", "ns.3", "gst.1")
@pytest.mark.parametrize("swarm_first", [False, True])
async def test_api_lists_the_files_of_both_and_reads_each(swarm_first: bool) -> None:
    # Servers with the names of globals, and of the index file.
    servers = {
        name: scripted(pages=[tools("run", "list")]) for name in ("agents", "index", "phase")
    }
    async with started(**servers) as running, CodeMode(True) as cm:
        run = run_of(cm, running, swarm_first=swarm_first)
        listed, of_mcp, of_agents, none, sizes, refused, swarm_text = await value(
            run,
            """
            const paths = async (prefix) => (await API.list(prefix)).files.map((f) => f.path);
            const { files } = await API.list();
            const read = await Promise.all(files.map((f) => API.read(f.path)));
            const refused = [];
            for (const path of ["agents", "mcp/../agents.d.ts", "./agents.d.ts", "nope.d.ts"]) {
              try { await API.read(path); refused.push("read"); } catch { refused.push("no"); }
            }
            return [
              files.map((f) => f.path), await paths("mcp"), await paths("agents"),
              await paths("zzz"),
              read.every((f, i) => f.bytes === files[i].bytes &&
                new TextEncoder().encode(f.content).length === f.bytes),
              refused, (await API.read("agents.d.ts")).content,
            ];
            """,
        )
    assert sorted(listed) == sorted({*listed})
    assert {"agents.d.ts", "mcp/index.d.ts", "mcp/agents.d.ts", "mcp/phase.d.ts"} <= set(listed)
    assert len(listed) == 5
    assert of_mcp == [path for path in listed if path.startswith("mcp/")]
    assert of_agents == ["agents.d.ts"]
    assert none == []
    assert sizes is True
    assert refused == ["no"] * 4
    assert "declare const agents" in swarm_text


@pytest.mark.req("mcp.1", "mcp.4", "ns.1", "ns.2", "ns.3", "gst.1")
async def test_each_name_reaches_its_own_owner() -> None:
    servers = {name: scripted(pages=[tools("run", "list")]) for name in ("agents", "mail")}
    async with started(**servers) as running, CodeMode(True) as cm:
        run = run_of(cm, running)
        got = await value(
            run,
            """
            const said = (r) => r.content[0].text;
            return {
              child: await agents.run("hi"),
              server: said(await MCP.agents.run({x: 1})),
              mail: [await mail.shout("a"), said(await MCP.mail.list({}))],
              namespaces: Object.keys(namespaces),
              nodes: (await nodes.list()).length,
              tool: await tools.callValue("openclaw:core:agents", {text: "b"}),
              native: ALL_TOOLS.map((t) => t.id),
              frozen: [agents, MCP, mail, nodes, API].every(Object.isFrozen),
              distinct: agents.run !== MCP.agents.run,
            };
            """,
        )
        description = run.model_tools[0].description
        events = [e for e in run.trajectory if e["type"] == "call_start" and e.get("tool")]
    assert got["child"] == "child: hi"
    assert '"x":1' in got["server"].replace(" ", "")
    assert got["mail"][0] == "A"
    assert got["namespaces"] == ["mail"]
    assert got["nodes"] == 1
    assert got["tool"] == "B"
    assert got["native"] == sorted(got["native"])
    assert not [one for one in got["native"] if one.startswith(("mcp:", "swarm:"))]
    assert got["frozen"] is True
    assert got["distinct"] is True
    assert {e["tool"] for e in events} == {
        "agents.run",
        "mcp:agents:run",
        "mcp:mail:list",
        "openclaw:mail:shout",
        "openclaw:core:nodes",
        "openclaw:core:agents",
    }
    # Each part that exists is told of once, and the servers' names are not.
    for word in ("MCP servers:", "Paired nodes:", "Subagents:", "Also there: mail"):
        assert description.count(word) == 1


@pytest.mark.req("ns.2", "ns.3")
@pytest.mark.parametrize("name", ["agents", "phase", "log", "MCP", "API", "nodes", "namespaces"])
def test_a_plugin_cannot_take_a_name_of_swarm_or_mcp(name: str) -> None:
    with pytest.raises(ValueError, match="reserved"):
        Namespace(name=name, owner="p", scope={})


@pytest.mark.req("ns.2")
async def test_two_extensions_for_the_same_thing_are_refused() -> None:
    other = Namespace(name="other", owner="p", scope={"n": 1})
    async with CodeMode(True) as cm:
        for pair in (
            [Namespaces([MAIL]), Namespaces([other])],
            [Swarm(Echo()), Swarm(Echo())],
            [Nodes(), Nodes("devices")],
        ):
            with pytest.raises(ValueError, match="two extensions"):
                cm.run(NATIVE, extensions=pair)


@pytest.mark.req("ns.3")
async def test_the_limits_are_the_contracts_and_a_child_that_raises_has_failed() -> None:
    assert Limits() == Limits(concurrency=8, live_per_group=50, total=200, wait_s=600.0)

    class Broken:
        def __call__(self, request: ChildRequest) -> Any:
            raise RuntimeError("no such model")

    async with CodeMode(True) as cm:
        run = cm.run(NATIVE, extensions=[Swarm(LoopSpawner(Broken()))])
        code = "return await agents.run('x').catch((e) => [e.name, e.message, e.status, e.runId])"
        name, message, status, run_id = await value(run, code)
    assert (name, message, status) == ("SwarmAgentError", "no such model", "failed")
    assert run_id.startswith("child_")
