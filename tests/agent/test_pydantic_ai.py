"""Code mode in agents of pydantic-ai."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from tests.agent.adapter_tools import CODE, QUICK, SHOWN, TOOLS, Slow

from codemode import CodeMode

pytest.importorskip("pydantic_ai")
from pydantic_ai import Agent, RunContext, Tool
from pydantic_ai.exceptions import UserError
from pydantic_ai.messages import (
    ToolReturnPart,
)
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.models.test import TestModel
from pydantic_ai.tools import DeferredToolRequests
from pydantic_ai.toolsets import FunctionToolset
from tests.agent.pydantic_script import Deps, Script, list_ships, pay, program, wait

from codemode.adapters.pydantic_ai import (
    CodeModeCapability,
    CodeModeToolset,
    RunToolset,
)

# A run of this library as a toolset


@pytest.mark.req("srf.1", "exe.2")
async def test_an_agent_runs_programs_and_reads_what_failed() -> None:
    script = Script(
        [program("nope"), program(CODE), ("add", {"a": 1}), ("exec", "{no json"), ("exec", "[1]")],
        ("screenshot", {}),
        "done",
    )
    async with CodeMode(True) as cm, cm.run(TOOLS) as run:
        agent = Agent(FunctionModel(script), toolsets=[RunToolset(run, id="x")])
        assert (await agent.run("go")).output == "done"
        nested = [e for e in run.trajectory if e.get("parentCallId") == "t1"]
    assert script.shown == [list(SHOWN)] * 3
    # pydantic-ai itself answers a call of what it has not shown, in a form that changes with it.
    failed, completed, no_json, no_object, picture = (
        part for part in script.results if part.tool_name != "add"
    )
    assert failed.outcome == "failed"
    assert json.loads(str(failed.content))["status"] == "failed"
    assert "ReferenceError" in str(failed.content)
    assert completed.content == {"status": "completed", "value": 3}
    assert completed.outcome == "success"
    for refused in (no_json, no_object):
        assert refused.outcome == "failed"
        assert "invalid_input" in str(refused.content)
    assert picture.content.media_type == "image/png"
    assert [event["type"] for event in nested] == ["call_start", "call_end"]
    assert completed.metadata["telemetry"]["callCount"] == 1


async def test_a_run_that_is_not_engaged_is_refused() -> None:
    async with CodeMode(False) as cm:
        with pytest.raises(ValueError, match="not engaged"):
            RunToolset(cm.run(TOOLS))


@pytest.mark.req("wai.1")
async def test_the_test_model_can_call_everything_that_is_shown() -> None:
    async with CodeMode(True) as cm, cm.run(TOOLS) as run:
        result = await Agent(TestModel(), toolsets=[RunToolset(run)]).run("go")
    # TestModel makes up arguments, so exec and wait fail: in results, not by ending the run.
    returned = [p for m in result.all_messages() for p in m.parts if isinstance(p, ToolReturnPart)]
    assert sorted(part.tool_name for part in returned) == list(SHOWN)


# An agent's own tools behind exec


@pytest.mark.req("srf.1", "cat.8", "tel.3")
async def test_the_tools_of_an_agent_go_behind_exec_and_keep_their_context() -> None:
    many = [
        Tool(pay, name=f"other_{n}", takes_ctx=True, description=f"Does {n}.") for n in range(50)
    ]
    script = Script(
        program(
            "const ships = await tools.list_ships({limit: 2});\n"
            "const due = ships.filter((s) => !s.paid);\n"
            "return [due, await tools.pay({ship_id: due[0].id})];"
        ),
        "done",
    )
    agent = Agent(
        FunctionModel(script),
        deps_type=Deps,
        tools=[list_ships, pay, *many],
        capabilities=[CodeModeCapability()],
    )
    result = await agent.run("go", deps=Deps("Oslo"))
    assert script.shown == [["exec", "wait"]] * 2
    (part,) = script.results
    assert part.content["value"] == [[{"id": "Oslo1", "paid": False}], "paid Oslo1 in t0:2"]
    # Each nested call and the exec itself count as tool calls of the agent's run.
    assert result.usage.tool_calls == 3


@pytest.mark.req("exe.10", "wai.1", "wai.3")
async def test_a_program_that_waits_goes_on_with_wait_and_a_parked_one_ends_with_the_run() -> None:
    slow = Slow()

    def release(results: list[ToolReturnPart]) -> Any:
        slow.release.set()
        return wait(results)

    script = Script(program("return await tools.wait()"), release, "done")
    async with CodeMode(QUICK) as cm:
        capability: Any = CodeModeCapability(cm=cm, config=QUICK)
        agent = Agent(FunctionModel(script), tools=[slow.wait], capabilities=[capability])
        await agent.run("go")
        assert [part.content["status"] for part in script.results] == ["waiting", "completed"]
        assert script.results[1].content["value"] == "slept"

        # The second time nobody waits: the cell and its tool end with the agent's run.
        slow.release.clear()
        script.turns = [program("return await tools.wait()"), "gave up"]
        assert (await agent.run("go")).output == "gave up"
        assert slow.cancelled
        assert cm._runs == set()


async def test_a_cancelled_agent_leaves_nothing_behind() -> None:
    slow = Slow()
    script = Script(program("return await tools.wait()"))
    async with CodeMode(True) as cm:
        agent = Agent(
            FunctionModel(script), tools=[slow.wait], capabilities=[CodeModeCapability(cm=cm)]
        )
        task = asyncio.ensure_future(agent.run("go"))
        await slow.started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert slow.cancelled
        assert cm._runs == set()


async def approved() -> str:
    """Needs approval."""
    return "wiped"


@pytest.mark.req("srf.2")
async def test_tools_that_need_approval_stay_visible_for_the_agents_own_way() -> None:
    script = Script(("approved", {}), "done")
    agent: Any = Agent(
        FunctionModel(script),
        tools=[Tool(approved, requires_approval=True), pay],
        output_type=[str, DeferredToolRequests],
        capabilities=[CodeModeCapability()],
    )
    first = await agent.run("go")
    assert isinstance(first.output, DeferredToolRequests)
    assert script.shown == [["approved", "exec", "wait"]]
    results = first.output.build_results(approve_all=True)
    second = await agent.run(message_history=first.all_messages(), deferred_tool_results=results)
    assert second.output == "done"
    assert script.results[0].content == "wiped"


@pytest.mark.req("act.1", "srf.1")
async def test_with_auto_only_known_models_get_code_mode() -> None:
    for name, shown in (("claude-opus-5", ["exec", "wait"]), ("unheard-of", ["pay"])):
        script = Script("done")
        model = FunctionModel(script, model_name=name)
        model._system = "anthropic"
        agent: Any = Agent(model, tools=[pay], capabilities=[CodeModeCapability(config="auto")])
        await agent.run("go")
        assert script.shown == [shown]


@pytest.mark.req("act.4")
async def test_where_programs_cannot_run_the_tools_stay_hidden(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("codemode.engine.WORKER_PATH", "/nonexistent/worker")
    script = Script(program("return 1"), "I cannot.")
    agent: Any = Agent(FunctionModel(script), tools=[pay], capabilities=[CodeModeCapability()])
    assert (await agent.run("go")).output == "I cannot."
    assert script.shown == [["exec", "wait"]] * 2
    assert json.loads(script.results[0].content)["code"] == "runtime_unavailable"


async def test_some_tools_go_behind_exec_and_others_stay() -> None:
    hidden: Any = FunctionToolset([pay, list_ships])
    script = Script(("visible", {}), program("return Object.keys(tools).length"), "done")

    async def visible() -> str:
        return "seen"

    agent: Any = Agent(FunctionModel(script), tools=[visible], toolsets=[CodeModeToolset(hidden)])
    await agent.run("go")
    assert script.shown[0] == ["exec", "visible", "wait"]
    assert script.results[0].content == "seen"

    def exec() -> str:  # noqa: A001
        return "mine"

    clash: Any = Agent(
        FunctionModel(Script("x")),
        tools=[exec, pay],
        capabilities=[CodeModeCapability(tools=["pay"])],
    )
    with pytest.raises(UserError, match="'exec'"):
        await clash.run("go")


@pytest.mark.req("cat.11")
async def test_tools_that_change_between_steps_change_the_catalog() -> None:
    async def only_later(ctx: RunContext[Any], definition: Any) -> Any:
        return definition if ctx.run_step > 1 else None

    async def late() -> str:
        return "late"

    code = "return ALL_TOOLS.map((t) => t.name)"
    script = Script(program(code), program(code), "done")
    agent: Any = Agent(
        FunctionModel(script),
        tools=[pay, Tool(late, prepare=only_later)],
        capabilities=[CodeModeCapability()],
    )
    await agent.run("go")
    assert [part.content["value"] for part in script.results] == [["pay"], ["late", "pay"]]
