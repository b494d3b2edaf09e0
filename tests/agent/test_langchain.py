"""Code mode in agents of LangChain."""

from __future__ import annotations

import asyncio
import json
from typing import Annotated, Any

import pytest
from tests.agent.adapter_tools import CODE, QUICK, SHOWN, TOOLS, Slow

from codemode import CodeMode, Completed, Waiting

pytest.importorskip("langchain_core")
from langchain_core.callbacks import AsyncCallbackHandler
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import InjectedToolCallId, StructuredTool, ToolException, tool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import BaseModel, Field

from codemode.adapters.langchain import from_langchain, langchain_tools


class Scripted(BaseChatModel):
    """A chat model that follows a script and binds tools as real ones do."""

    turns: list[Any]
    bound: list[Any] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        self.bound[:] = [convert_to_openai_tool(one) for one in tools]
        return self.bind(tools=self.bound, **kwargs)

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        turn = self.turns.pop(0)
        if callable(turn):
            turn = turn(messages)
        if isinstance(turn, str):
            message = AIMessage(turn)
        else:
            calls = [
                {"name": name, "args": given, "id": f"t{len(messages)}_{n}", "type": "tool_call"}
                for n, (name, given) in enumerate(turn)
            ]
            message = AIMessage("", tool_calls=calls)
        return ChatResult(generations=[ChatGeneration(message=message)])


async def converse(model: Scripted, tools: Any, config: Any = None) -> list[BaseMessage]:
    """The loop that every agent of LangChain has inside."""
    bound = model.bind_tools(tools)
    by_name = {one.name: one for one in tools}
    messages: list[BaseMessage] = [HumanMessage("go")]
    while True:
        reply = await bound.ainvoke(messages, config)
        messages.append(reply)
        if not reply.tool_calls:
            return messages
        messages += await asyncio.gather(
            *(by_name[call["name"]].ainvoke(call, config) for call in reply.tool_calls)
        )


def program(code: str) -> tuple[str, dict[str, Any]]:
    return "exec", {"code": code}


def results(messages: list[BaseMessage]) -> list[ToolMessage]:
    return [message for message in messages if isinstance(message, ToolMessage)]


@pytest.mark.req("srf.1", "exe.2")
async def test_a_model_with_bound_tools_runs_programs_and_reads_what_failed() -> None:
    odd = {"code": "return 1", "config": 1, "run_manager": 2, "self": 3}
    model = Scripted(
        turns=[
            [program("nope"), program(CODE), ("exec", odd), ("exec", {})],
            [("screenshot", {})],
            "done",
        ]
    )
    async with CodeMode(True) as cm, cm.run(TOOLS) as run:
        messages = await converse(model, langchain_tools(run))
        nested = [e for e in run.trajectory if e.get("parentCallId") == "t1_1"]
    assert sorted(one["function"]["name"] for one in model.bound) == list(SHOWN)
    assert model.bound[0]["function"]["parameters"]["required"] == ["code"]
    failed, completed, strange, empty, picture = results(messages)
    assert failed.status == "error"
    assert "ReferenceError" in json.loads(str(failed.content))["error"]
    assert completed.status == "success"
    assert json.loads(str(completed.content)) == {"status": "completed", "value": 3}
    assert isinstance(completed.artifact, Completed)
    assert json.loads(str(strange.content))["status"] in ("completed", "failed")
    assert empty.status == "error"
    block = {"type": "image", "base64": "AAAA", "mime_type": "image/png"}
    assert picture.content == [block]
    assert len(nested) == 2
    assert messages[-1].content == "done"


@pytest.mark.req("wai.1", "wai.3")
async def test_a_program_that_waits_goes_on_with_wait() -> None:
    slow = Slow()

    def release(messages: list[BaseMessage]) -> Any:
        slow.release.set()
        return [("wait", {"runId": json.loads(str(messages[-1].content))["runId"]})]

    model = Scripted(turns=[[program("return await tools.slow({})")], release, "done"])
    tools = from_langchain(
        [StructuredTool.from_function(coroutine=slow.wait, name="slow", description="Sleeps.")]
    )
    async with CodeMode(QUICK) as cm, cm.run(tools) as run:
        waiting, completed = results(await converse(model, langchain_tools(run)))
    assert isinstance(waiting.artifact, Waiting)
    assert json.loads(str(completed.content))["value"] == "slept"


async def test_closing_the_run_cancels_what_a_parked_program_had_started() -> None:
    slow = Slow()
    tools = from_langchain(
        [StructuredTool.from_function(coroutine=slow.wait, name="slow", description="Sleeps.")]
    )
    model = Scripted(turns=[[program("return await tools.slow({})")], "gave up"])
    async with CodeMode(QUICK) as cm:
        async with cm.run(tools) as run:
            shown = langchain_tools(run)
            await converse(model, shown)
            assert not slow.cancelled
        assert slow.cancelled
        with pytest.raises(RuntimeError, match="closed"):
            await shown[0].ainvoke({"code": "return 1"})


async def test_a_run_that_is_not_engaged_is_refused_and_there_is_no_sync_call() -> None:
    async with CodeMode(False) as cm:
        with pytest.raises(ValueError, match="not engaged"):
            langchain_tools(cm.run(TOOLS))
    async with CodeMode(True) as cm, cm.run(TOOLS) as run:
        with pytest.raises(NotImplementedError, match="ainvoke"):
            langchain_tools(run)[0].invoke({"code": "return 1"})


class Ship(BaseModel):
    id: str
    tons: float


@tool
def list_ships(port: str, limit: int = 2) -> list[Ship]:
    """Lists ships.

    Args:
        port: Where.
        limit: How many.
    """
    return [Ship(id=f"{port}{n}", tons=n) for n in range(limit)]


@tool(response_format="content_and_artifact")
def report(month: str) -> tuple[str, dict[str, Any]]:
    """Makes a report."""
    return f"report of {month}", {"pages": 12, "month": month}


@tool
def who(text: str, call_id: Annotated[str, InjectedToolCallId]) -> str:
    """Says who called."""
    return f"{text} {call_id}"


@tool
def breaks(how: str) -> str:
    """Breaks."""
    raise ToolException(how)


breaks.handle_tool_error = True


@pytest.mark.req("cat.10", "cat.8")
async def test_tools_of_langchain_run_inside_programs_with_their_values_and_errors() -> None:
    spoken = breaks.model_copy(update={"name": "spoken", "handle_tool_error": "try tomorrow"})
    asked = breaks.model_copy(
        update={"name": "asked", "handle_tool_error": lambda e: f"sorry: {e}"}
    )
    code = """
        const error = (promise) => promise.catch((e) => e.message);
        return {
          ships: await tools.list_ships({port: "Oslo"}),
          report: await tools.report({month: "May"}),
          who: await tools.who({text: "hi"}),
          missing: await error(tools.list_ships({})),
          broken: await error(tools.breaks({how: "badly"})),
          spoken: await error(tools.spoken({how: "badly"})),
          asked: await error(tools.asked({how: "badly"})),
        };
    """
    tools = from_langchain([list_ships, report, who, breaks, spoken, asked])
    async with CodeMode(True) as cm, cm.run(tools) as run:
        result = await run.exec({"code": code}, call_id="t1")
        assert '"openclaw:core:list_ships" { port: string; limit?: number }' in (
            run.model_tools[0].description
        )
    assert isinstance(result, Completed), result
    missing = result.value.pop("missing")
    assert "port" in missing
    assert result.value == {
        "ships": [{"id": "Oslo0", "tons": 0}, {"id": "Oslo1", "tons": 1}],
        "report": {"pages": 12, "month": "May"},
        "who": "hi t1:3",
        "broken": "badly",
        "spoken": "try tomorrow",
        "asked": "sorry: badly",
    }
    assert breaks.handle_tool_error is True  # the given tool itself is left as it is


class Names(AsyncCallbackHandler):
    def __init__(self) -> None:
        self.started: list[tuple[str, Any, Any]] = []

    async def on_tool_start(
        self, serialized: Any, input_str: str, *, run_id: Any, parent_run_id: Any = None, **_: Any
    ) -> None:
        self.started.append((serialized["name"], run_id, parent_run_id))


async def test_traces_show_nested_calls_below_their_exec() -> None:
    names = Names()
    model = Scripted(turns=[[program("return await tools.list_ships({port: 'Oslo'})")], "done"])
    async with CodeMode(True) as cm, cm.run(from_langchain([list_ships])) as run:
        await converse(model, langchain_tools(run), {"callbacks": [names]})
    (outer, outer_id, _), (inner, _, parent) = names.started
    assert (outer, inner) == ("exec", "list_ships")
    assert parent == outer_id
