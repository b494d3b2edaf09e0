"""Code mode in agents of pydantic-ai."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from tests.agent.adapter_tools import CODE, QUICK, SHOWN, TOOLS, Slow

from codemode import CallEvent, CodeMode, Hooks

pytest.importorskip("pydantic_ai")
from pydantic import BaseModel
from pydantic_ai import Agent, RunContext, Tool
from pydantic_ai.capabilities import HandleDeferredToolCalls
from pydantic_ai.exceptions import ApprovalRequired, ModelRetry, UsageLimitExceeded, UserError
from pydantic_ai.messages import (
    BinaryContent,
    ModelMessage,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel
from pydantic_ai.models.test import TestModel
from pydantic_ai.tools import DeferredToolRequests, ToolDenied
from pydantic_ai.toolsets import FunctionToolset

from codemode.adapters.pydantic_ai import (
    CodeModeCallEvent,
    CodeModeCapability,
    CodeModeToolset,
    RunToolset,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


class Script:
    """A model that follows a script; turns are calls, texts, or functions of the results."""

    def __init__(self, *turns: Any) -> None:
        self.turns = list(turns)
        self.shown: list[list[str]] = []
        self.results: list[ToolReturnPart] = []

    def __call__(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.shown.append(sorted(tool.name for tool in info.function_tools))
        self.results = [
            part for m in messages for part in m.parts if isinstance(part, ToolReturnPart)
        ]
        turn = self.turns.pop(0)
        if callable(turn):
            turn = turn(self.results)
        if isinstance(turn, str):
            return ModelResponse([TextPart(turn)])
        calls = turn if isinstance(turn, list) else [turn]
        number = len(self.results)
        return ModelResponse(
            [
                ToolCallPart(name, given, tool_call_id=f"t{number + index}")
                for index, (name, given) in enumerate(calls)
            ]
        )


def program(code: str) -> tuple[str, dict[str, Any]]:
    return "exec", {"code": code}


def wait(results: list[ToolReturnPart]) -> tuple[str, dict[str, Any]]:
    return "wait", {"runId": results[-1].content["runId"]}


async def outcome(code: str, given: Any, **options: Any) -> tuple[str, Any]:
    """`(outcome, content)` of one program in an agent with the tools `given`."""
    script = Script(program(code), "done")
    agent = Agent(
        FunctionModel(script),
        tools=given,
        capabilities=[CodeModeCapability(**options)],
    )
    assert (await agent.run("go")).output == "done"
    (part,) = script.results
    return part.outcome, part.content if isinstance(part.content, dict) else json.loads(
        str(part.content)
    )


# A run of this library as a toolset


@pytest.mark.req("srf.1", "srf.7", "exe.2")
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


@dataclass
class Deps:
    port: str


class Ship(BaseModel):
    id: str
    paid: bool


async def list_ships(ctx: RunContext[Deps], limit: int = 3) -> list[Ship]:
    """Lists ships of the port."""
    return [Ship(id=f"{ctx.deps.port}{n}", paid=n % 2 == 0) for n in range(limit)]


def pay(ctx: RunContext[Deps], ship_id: str) -> str:
    """Pays for a ship."""
    if not ship_id:
        raise ModelRetry("give an id")
    return f"paid {ship_id} in {ctx.tool_call_id}"


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


async def test_mistakes_inside_are_errors_of_the_program_and_cost_no_retries() -> None:
    async def breaks() -> str:
        raise RuntimeError("disk on fire")

    code = """
        const said = [];
        const tries = [() => tools.pay({ship_id: ""}), () => tools.pay({}), () => tools.breaks(),
                       () => tools.list_ships({limit: "many"})];
        for (let round = 0; round < 3; round++)
          for (const one of tries) { try { await one(); } catch (e) { said.push(e.message); } }
        return said.slice(0, 4);
    """
    script = Script(program(code), "done")
    agent = Agent(
        FunctionModel(script),
        tools=[list_ships, pay, breaks],
        deps_type=Deps,
        retries=0,
        capabilities=[CodeModeCapability()],
    )
    await agent.run("go", deps=Deps("Oslo"))
    retry, missing, broken, wrong = script.results[0].content["value"]
    assert retry == "give an id"
    assert "ship_id" in missing
    assert broken == "disk on fire"
    assert "limit" in wrong


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


@pytest.mark.req("cat.8", "wai.3")
async def test_a_person_approves_a_call_of_a_program_while_it_is_parked() -> None:
    asked = asyncio.Event()
    decide = asyncio.Event()

    async def person(ctx: RunContext[Any], requests: DeferredToolRequests) -> Any:
        asked.set()
        await decide.wait()
        call = requests.approvals[0]
        allowed = call.args_as_dict() == {"what": "logs"}
        return requests.build_results(
            approvals={call.tool_call_id: True if allowed else ToolDenied("never that")}
        )

    async def wipe(ctx: RunContext[Any], what: str) -> str:
        if not ctx.tool_call_approved:
            raise ApprovalRequired
        return f"wiped {what}"

    def after(results: list[ToolReturnPart]) -> Any:
        assert asked.is_set()
        decide.set()
        return wait(results)

    code = """
        const denied = await tools.wipe({what: "all"}).catch((e) => e.message);
        return [denied, await tools.wipe({what: "logs"})];
    """
    script = Script(program(code), after, "done")
    agent = Agent(
        FunctionModel(script),
        tools=[wipe],
        capabilities=[CodeModeCapability(config=QUICK), HandleDeferredToolCalls(person)],
    )
    await agent.run("go")
    waiting, completed = script.results
    assert waiting.content["status"] == "waiting"
    denied, wiped = completed.content["value"]
    assert "never that" in denied
    assert wiped == "wiped logs"


async def test_without_anyone_to_approve_the_program_is_told() -> None:
    async def wipe() -> str:
        raise ApprovalRequired

    status, content = await outcome("return await tools.wipe()", [wipe])
    assert status == "failed"
    assert "needs an answer from outside" in content["error"]
    # The same for a tool that is put behind exec by its name.
    declared = Tool(approved, requires_approval=True)
    _, content = await outcome("return await tools.approved()", [declared], tools=["approved"])
    assert "needs an answer from outside" in content["error"]


async def test_a_limit_of_the_agents_run_ends_it_whatever_the_program_catches() -> None:
    async def over() -> str:
        raise UsageLimitExceeded("too dear")

    for code in ("return await tools.over().catch(() => 1)", "return await tools.over()"):
        with pytest.raises(UsageLimitExceeded, match="too dear"):
            await outcome(code, [over])


async def test_files_are_replaced_by_a_marker_and_odd_values_cross() -> None:
    def picture() -> list[Any]:
        return [BinaryContent(b"\x89PNG", media_type="image/png"), {"raw": b"\xff"}, {1, 2}]

    status, content = await outcome("return await tools.picture()", [picture])
    assert status == "success", content
    marker = {"type": "image", "mimeType": "image/png", "bytes": 4, "omitted": True}
    assert content["value"] == [marker, {"raw": "_w=="}, [1, 2]]


@pytest.mark.req("cat.9")
async def test_a_value_is_held_against_the_return_type_unless_that_is_off() -> None:
    def count() -> int:
        return "many"  # type: ignore[return-value]

    _, content = await outcome("return await tools.count()", [count])
    assert "declared form" in content["error"]
    _, content = await outcome("return await tools.count()", [count], output_schemas=False)
    assert content["value"] == "many"


@pytest.mark.req("srf.5", "cat.3")
async def test_the_model_is_shown_what_the_functions_return() -> None:
    descriptions: list[str] = []

    def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        descriptions.append(str(info.function_tools[0].description))
        return ModelResponse([TextPart("done")])

    # As those of MCP servers are: their values may have further members.
    served = Tool(list_ships, name="served", metadata={"annotations": {}})
    agent: Any = Agent(
        FunctionModel(model), tools=[list_ships, served], capabilities=[CodeModeCapability()]
    )
    await agent.run("go", deps=Deps("Oslo"))
    lines = descriptions[0].splitlines()
    ship = "{ id: string; paid: boolean }"
    assert f'- "openclaw:core:list_ships" {{ limit?: number }} -> Array<{ship}>' in lines
    assert '- "openclaw:core:served" { limit?: number } -> ?' in lines


async def test_calls_that_want_to_be_alone_are() -> None:
    running: set[str] = set()
    seen: list[set[str]] = []

    async def body(name: str) -> str:
        running.add(name)
        await asyncio.sleep(0.02)
        seen.append(set(running))
        running.discard(name)
        return name

    async def together(name: str) -> str:
        return await body(name)

    async def alone(name: str) -> str:
        return await body(f"alone {name}")

    code = """
        const start = [["together", "a"], ["together", "b"], ["alone", "c"], ["together", "d"],
                       ["together", "e"], ["alone", "f"]];
        return await Promise.all(start.map(([tool, name]) => tools[tool]({name})));
    """
    _, content = await outcome(code, [together, Tool(alone, sequential=True)])
    assert len(content["value"]) == 6
    assert [s for s in seen if any(n.startswith("alone") for n in s)] == [{"alone c"}, {"alone f"}]
    assert {"a", "b"} in seen
    assert {"d", "e"} in seen


@pytest.mark.req("act.1", "srf.1")
async def test_with_auto_only_known_models_get_code_mode() -> None:
    for name, shown in (("claude-opus-5", ["exec", "wait"]), ("unheard-of", ["pay"])):
        script = Script("done")
        model = FunctionModel(script, model_name=name)
        model._system = "anthropic"
        agent: Any = Agent(model, tools=[pay], capabilities=[CodeModeCapability(config="auto")])
        await agent.run("go")
        assert script.shown == [shown]


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


class Blocking(Hooks):
    def __init__(self) -> None:
        self.seen: list[str] = []

    def before_tool_call(self, event: CallEvent) -> Any:
        self.seen.append(event.name)


@pytest.mark.req("cat.8", "tel.3")
async def test_nested_calls_are_in_the_event_stream_and_before_the_hooks() -> None:
    async def replies(
        messages: list[ModelMessage], info: AgentInfo
    ) -> AsyncIterator[str | dict[int, DeltaToolCall]]:
        if len(messages) == 1:
            arguments = json.dumps({"code": "return await tools.twice({n: 4})"})
            yield {0: DeltaToolCall("exec", arguments[:9], tool_call_id="t1")}
            yield {0: DeltaToolCall(json_args=arguments[9:])}
        else:
            yield "It is "
            yield "8."

    async def twice(n: int) -> int:
        return n * 2

    hooks = Blocking()
    agent = Agent(
        FunctionModel(stream_function=replies),
        tools=[twice],
        capabilities=[CodeModeCapability(hooks=hooks)],
    )
    events: list[Any] = []
    async with agent.run_stream_events("go") as stream:
        events = [event async for event in stream]
    nested = [event for event in events if isinstance(event, CodeModeCallEvent)]
    assert [(e.tool, e.outcome, e.tool_call_id, e.call_id) for e in nested] == [
        ("twice", None, "t1", "t1:1"),
        ("twice", "ok", "t1", "t1:1"),
    ]
    kinds = [event.event_kind for event in events]
    assert kinds.index("function_tool_call") < kinds.index("custom")
    assert kinds.index("custom") < kinds.index("function_tool_result")
    assert events[-1].result.output == "It is 8."
    assert hooks.seen == ["exec", "twice"]
