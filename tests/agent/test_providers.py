"""The loop over real HTTP, through the official SDKs, in three wire formats."""

from __future__ import annotations

import json
import sys
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest
from tests.agent.model_server import ModelServer

from codemode import CodeMode, Tool, ToolResult
from codemode.agent import Agent, AnthropicMessages, OpenAIChat, OpenAIResponses, Price

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

FORMS = ["responses", "chat", "messages"]
PRICE = Price(input=10, output=100, cache_read=1)


def provider(form: str, url: str) -> Any:
    if form == "messages":
        sdk = pytest.importorskip("anthropic")
        client = sdk.AsyncAnthropic(base_url=url, api_key="none", max_retries=0)
        return AnthropicMessages("scripted", client=client)
    sdk = pytest.importorskip("openai")
    client = sdk.AsyncOpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0)
    made = OpenAIResponses if form == "responses" else OpenAIChat
    return made("scripted", client=client)


async def _add(given: Any, _: Any) -> Any:
    return given["a"] + given["b"]


async def _image(given: Any, _: Any) -> Any:
    return ToolResult(content=[{"type": "image", "data": "AAAA", "mimeType": "image/png"}])


TOOLS = (
    Tool(name="add", execute=_add, description="Adds."),
    Tool(name="screenshot", execute=_image, direct_only=True, description="Takes a picture."),
)


@asynccontextmanager
async def talk(
    form: str, *turns: Any, config: Any = True, **more: Any
) -> AsyncIterator[tuple[ModelServer, Agent]]:
    async with (
        ModelServer(*turns) as server,
        CodeMode(config) as cm,
        Agent(cm, provider(form, server.url), tools=TOOLS, **more) as agent,
    ):
        yield server, agent


def names(body: dict[str, Any]) -> list[str]:
    return sorted((tool.get("function") or tool)["name"] for tool in body["tools"])


def results(body: dict[str, Any]) -> list[tuple[str, str]]:
    """`(call id, text)` of the tool results in a request of any of the formats."""
    found = [
        (item["call_id"], item["output"][0].get("text", ""))
        for item in body.get("input", ())
        if item.get("type") == "function_call_output"
    ]
    for message in body.get("messages", ()):
        if message["role"] == "tool":
            found.append((message["tool_call_id"], message["content"]))
        elif isinstance(message["content"], list):
            found += [
                (block["tool_use_id"], block["content"][0].get("text", ""))
                for block in message["content"]
                if block["type"] == "tool_result"
            ]
    return found


@pytest.mark.req("srf.1", "srf.6", "tel.2")
@pytest.mark.parametrize("form", FORMS)
async def test_a_program_is_run_and_its_value_reaches_the_model(form: str) -> None:
    code = "return await tools.add({a: 20, b: 22})"

    def last(body: dict[str, Any]) -> Any:
        return {"text": f"It is {json.loads(results(body)[0][1])['value']}."}

    turns = ({"text": "I compute.", "calls": [("exec", {"code": code})]}, last)
    async with (
        ModelServer(*turns) as server,
        CodeMode(True) as cm,
        Agent(
            cm, provider(form, server.url), tools=TOOLS, system="Be short.", price=PRICE
        ) as agent,
    ):
        events = [event async for event in agent.stream("20 + 22?")]
    assert [event["type"] for event in events if event["type"] != "text"] == [
        "call",
        "result",
        "answer",
    ]
    pieces = [event["text"] for event in events if event["type"] == "text"]
    assert "".join(pieces) == "I compute.It is 42."
    assert len(pieces) == 4  # streamed: each text came in two pieces
    assert events[-1]["answer"].text == "It is 42."
    assert [names(body) for _, body in server.requests] == [["exec", "screenshot", "wait"]] * 2
    assert "telemetry" not in results(server.requests[1][1])[0][1]
    metadata = events[-1]["answer"].metadata
    assert metadata["assistantTurns"] == 2
    assert metadata["bridgeCalls"]["call"] == 1
    assert metadata["costUsd"] == pytest.approx(2 * (70 * 10 + 20 * 100 + 30 * 1) / 1e6)


@pytest.mark.parametrize("form", FORMS)
async def test_a_failed_cell_is_told_to_the_model_and_the_turn_goes_on(form: str) -> None:
    turns = (
        {"calls": [("exec", {"code": "return missing.field"})]},
        {"calls": [("add", {"a": 1})]},
        {"calls": [("exec", "{not json")]} if form != "messages" else {"calls": [("exec", {})]},
        {"calls": [("exec", {"code": "return 5"})]},
        {"text": "5"},
    )
    async with talk(form, *turns) as (server, agent):
        assert (await agent.ask("go")).text == "5"
    told = [json.loads(text) for _, text in results(server.requests[-1][1])]
    assert [result["status"] for result in told] == ["failed", "failed", "failed", "completed"]
    assert "ReferenceError" in told[0]["error"]
    assert "exec({" in told[1]["error"]


@pytest.mark.parametrize("form", FORMS)
async def test_parallel_calls_are_answered_in_order_and_images_get_through(form: str) -> None:
    calls = [("exec", {"code": "return 1"}), ("screenshot", {}), ("exec", {"code": "return 2"})]
    async with talk(form, {"calls": calls}, {"text": "ok"}) as (server, agent):
        await agent.ask("go")
    body = server.requests[1][1]
    assert [call_id for call_id, _ in results(body)] == ["call_1", "call_2", "call_3"]
    # Chat Completions takes no images in tool messages and says so.
    assert ("AAAA" in json.dumps(body)) is (form != "chat")


@pytest.mark.parametrize("form", FORMS)
async def test_a_reply_goes_back_in_the_providers_own_form(form: str) -> None:
    turns = ({"text": "a", "calls": [("exec", {"code": "return 1"})]}, {"text": "b"})
    async with talk(form, *turns) as (server, agent):
        await agent.ask("go")
    sent = json.dumps(server.requests[1][1])
    assert ("c2lnbmVk" in sent) is (form == "messages")
    assert ("c2VjcmV0" in sent) is (form == "responses")


@pytest.mark.req("srf.1")
@pytest.mark.parametrize("form", FORMS)
async def test_not_engaged_the_model_sees_and_calls_the_tools_themselves(form: str) -> None:
    turns = (
        {"calls": [("add", {"a": 1, "b": 2}), ("nope", {}), ("add", {"a": 1})]},
        {"text": "3"},
    )
    async with talk(form, *turns, config=False) as (server, agent):
        answer = await agent.ask("go")
    assert answer.metadata["codeModeEngaged"] is False
    assert names(server.requests[0][1]) == ["add", "screenshot"]
    told = [text for _, text in results(server.requests[1][1])]
    assert told[0] == "3"
    assert "no tool nope" in told[1]
    assert "'b'" in told[2]


@pytest.mark.parametrize("form", FORMS)
async def test_an_error_of_the_provider_is_raised_and_the_turn_can_be_resumed(form: str) -> None:
    turns = (
        {"calls": [("exec", {"code": "return 1"})]},
        {"status": 400},
        {"text": "done"},
    )
    async with talk(form, *turns) as (server, agent):
        with pytest.raises(Exception, match="400"):
            await agent.ask("go")
        with pytest.raises(RuntimeError, match="resume"):
            await agent.ask("again")
        assert (await agent.resume()).text == "done"
    assert len(results(server.requests[2][1])) == 1


@pytest.mark.parametrize(
    ("made", "sdk"), [(AnthropicMessages, "anthropic"), (OpenAIChat, "openai")]
)
async def test_without_the_sdk_the_error_says_what_to_install(
    made: Any, sdk: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, sdk, None)
    async with CodeMode(True) as cm, Agent(cm, made("m"), tools=TOOLS) as agent:
        with pytest.raises(ModuleNotFoundError, match=r"codemode\[agent\]"):
            await agent.ask("go")


@pytest.mark.req("tel.4")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("mode", ["events", "peek", ""])
async def test_the_stream_is_logged_as_far_as_it_was_asked_for(
    form: str, mode: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("CODEMODE_DEBUG_SSE", mode)
    with caplog.at_level("DEBUG", "codemode"):
        async with talk(form, {"text": "a word of the model"}) as (_, agent):
            assert (await agent.ask("go")).text == "a word of the model"
    logged = [r.getMessage() for r in caplog.records if r.getMessage().startswith("model event")]
    assert bool(logged) is bool(mode)
    # A peek is at the first five events, whole; else the log has their types only.
    assert any('"scripted"' in line for line in logged) is (mode == "peek")
    assert len(logged) <= 5 or mode != "peek"
