"""Programs behind FastMCP's code mode, with its real server and client."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.agent.adapter_tools import Slow

from codemode import CodeMode

pytest.importorskip("fastmcp")
from fastmcp import Client, FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.experimental.transforms.code_mode import CodeMode as CodeModeTransform
from fastmcp.experimental.transforms.code_mode import SandboxProvider

from codemode.adapters.fastmcp import CodeModeSandbox, JavaScriptCodeMode

QUICK = {"enabled": True, "timeoutMs": 300}


def served(transform: Any, slow: Slow | None = None, **options: Any) -> Any:
    server: Any = FastMCP("numbers", transforms=[transform], **options)

    @server.tool
    def double(n: int) -> int:
        """Doubles a number."""
        return n * 2

    @server.tool
    async def sleep() -> str:
        """Sleeps."""
        assert slow is not None
        return await slow.wait()

    return server


@pytest.mark.parametrize("transform", [JavaScriptCodeMode, CodeModeTransform])
async def test_a_server_runs_programs_over_its_own_tools(transform: Any) -> None:
    async with CodeMode(True) as cm:
        sandbox: SandboxProvider = CodeModeSandbox(cm)
        server = served(transform(sandbox_provider=sandbox))
        async with Client(server) as client:
            shown = {tool.name: tool for tool in await client.list_tools()}
            assert sorted(shown) == ["execute", "get_schema", "search"]
            found = await client.call_tool("search", {"query": "double a number"})
            assert "double" in str(found.content)
            code = """
                const all = [1, 2, 3].map((n) => call_tool("double", {n}));
                return (await Promise.all(all)).map((r) => r.result);
            """
            result = await client.call_tool("execute", {"code": code})
            assert result.data == [2, 4, 6] or "[2,4,6]" in str(result.content)
            bad = await client.call_tool("execute", {"code": "return nope"}, raise_on_error=False)
            assert bad.is_error
            assert "nope" in str(bad.content)
        assert cm._runs == set()


async def test_the_texts_ask_for_javascript() -> None:
    async with Client(served(JavaScriptCodeMode())) as client:
        execute = next(t for t in await client.list_tools() if t.name == "execute")
    assert "Python" not in str(execute)
    assert "JavaScript" in str(execute.description)
    assert list(execute.input_schema["properties"]) == ["code"]


async def test_a_failure_reaches_the_model_also_where_the_server_hides_errors() -> None:
    server = served(JavaScriptCodeMode(), mask_error_details=True)
    async with Client(server) as client:
        code = "return await call_tool('double', {n: 'x'})"
        bad = await client.call_tool("execute", {"code": code}, raise_on_error=False)
        assert "valid integer" in str(bad.content)
        caught = "return await call_tool('nope', {}).catch((e) => e.message)"
        result = await client.call_tool("execute", {"code": caught})
        assert "Unknown tool: nope" in str(result.content)


@pytest.mark.req("exe.10", "wai.1")
async def test_a_slow_tool_is_waited_for_inside_the_call() -> None:
    slow = Slow()
    async with CodeMode(True) as cm:
        server = served(
            JavaScriptCodeMode(sandbox_provider=CodeModeSandbox(cm, config=QUICK)), slow
        )
        async with Client(server) as client:
            code = "return await call_tool('sleep', {})"
            task = asyncio.ensure_future(client.call_tool("execute", {"code": code}))
            await slow.started.wait()
            await asyncio.sleep(0.7)  # more than two deadlines of a leg
            assert not task.done()
            slow.release.set()
            assert "slept" in str((await task).content)
        assert cm._runs == set()


async def test_a_program_without_an_end_is_ended_and_its_tools_are_cancelled() -> None:
    slow = Slow()
    sandbox = CodeModeSandbox(config=QUICK, max_seconds=1.0)
    with pytest.raises(ToolError, match="longer than 1 s"):
        await sandbox.run("return await f()", external_functions={"f": slow.wait})
    assert slow.cancelled
    with pytest.raises(ToolError, match="longer than 1 s"):
        await sandbox.run("while (true) await yield_control();")
    with pytest.raises(ToolError, match="deadline of"):
        await sandbox.run("while (true);")


async def test_a_cancelled_call_leaves_nothing_behind() -> None:
    slow = Slow()
    async with CodeMode(True) as cm:
        task = asyncio.ensure_future(
            CodeModeSandbox(cm).run("return await f()", external_functions={"f": slow.wait})
        )
        await slow.started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert slow.cancelled
        assert cm._runs == set()


async def test_inputs_functions_and_typescript() -> None:
    async def greet(name: str, loud: bool = False) -> str:
        return f"HELLO {name}" if loud else f"hello {name}"

    def add(*numbers: Any) -> Any:
        return sum(numbers) if isinstance(numbers[0], int) else numbers

    async with CodeMode(True) as cm:
        run = CodeModeSandbox(cm).run
        functions: Any = {"greet": greet, "add": add}
        code = """
            const x: string = await greet(who.name, true);
            return [x, await greet({name: "bo"}), await add(1, 2, 3), await add({a: 1})];
        """
        given: Any = {"inputs": {"who": {"name": "ann"}}, "external_functions": functions}
        assert await run(code, **given) == ["HELLO ann", "hello bo", 6, [{"a": 1}]]
        assert await run("return 1 + 1") == 2
        with pytest.raises(ToolError, match="greet takes name, loud"):
            await run("return await greet({x: 1})", external_functions=functions)
        with pytest.raises(ValueError, match="reserved"):
            await run("return 1", inputs={"tools": 1})
