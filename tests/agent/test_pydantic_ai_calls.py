"""Calls of programs in agents of pydantic-ai: errors, approval, values, events."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest
from tests.agent.adapter_tools import QUICK

from codemode import CallEvent, Hooks

pytest.importorskip("pydantic_ai")
from pydantic_ai import Agent, RunContext, Tool
from pydantic_ai.capabilities import HandleDeferredToolCalls
from pydantic_ai.exceptions import ApprovalRequired, UsageLimitExceeded
from pydantic_ai.messages import (
    BinaryContent,
    ModelMessage,
    ModelResponse,
    TextPart,
    ToolReturnPart,
)
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel
from pydantic_ai.tools import DeferredToolRequests, ToolDenied
from tests.agent.pydantic_script import Deps, Script, list_ships, outcome, pay, program, wait

from codemode.adapters.pydantic_ai import (
    CodeModeCallEvent,
    CodeModeCapability,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


async def approved() -> str:
    """Needs approval."""
    return "wiped"


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
