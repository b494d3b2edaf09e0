"""`run.model_tools` in the forms of the providers, checked by the providers' own types."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.agent.adapter_tools import SHOWN, TOOLS

from codemode import CodeMode
from codemode.adapters import wire
from codemode.guard import guard_payload


@pytest.mark.req("srf.6")
@pytest.mark.parametrize("form", ["openai_responses", "openai_chat", "anthropic", "gemini"])
async def test_each_form_passes_the_guard_unchanged(form: str) -> None:
    async with CodeMode(True) as cm:
        tools = getattr(wire, form)(cm.run(TOOLS).model_tools)
        assert guard_payload({"tools": tools}, SHOWN)["tools"] == tools


@pytest.mark.req("srf.6")
async def test_gemini_takes_the_declarations_and_the_guard_reads_what_it_makes_of_them() -> None:
    types = pytest.importorskip("google.genai.types")
    async with CodeMode(True) as cm:
        run = cm.run(TOOLS)
        form = wire.gemini(run.model_tools)
    tool = types.Tool.model_validate(form[0])
    declared = [
        types.FunctionDeclaration.model_validate(d) for d in form[0]["functionDeclarations"]
    ]
    assert tool.function_declarations == declared
    assert [d.name for d in declared] == ["exec", "wait", "screenshot"]
    for declaration, shown in zip(declared, run.model_tools, strict=True):
        assert declaration.description == shown.description
        assert declaration.parameters is None  # that member takes a part of JSON Schema only
        assert declaration.parameters_json_schema == shown.parameters
    config = types.GenerateContentConfig(
        tools=form,
        tool_config=types.ToolConfig(
            function_calling_config=types.FunctionCallingConfig(
                mode="ANY", allowed_function_names=["exec"]
            )
        ),
    )
    dumped = {"config": config.model_dump(mode="json", exclude_none=True, by_alias=True)}
    names = [
        d["name"] for t in run.guard(dumped)["config"]["tools"] for d in t["functionDeclarations"]
    ]
    assert sorted(names) == list(SHOWN)
    assert wire.gemini(()) == []


@pytest.mark.req("srf.6")
async def test_what_gemini_puts_beside_the_declarations_is_dropped() -> None:
    types = pytest.importorskip("google.genai.types")
    async with CodeMode(True) as cm:
        run = cm.run(TOOLS)
        (form,) = wire.gemini(run.model_tools)
        own = {"googleSearch": {}, "codeExecution": {}, "urlContext": {}}
        types.Tool.model_validate({**form, **own})  # a request may look like this
        guarded = run.guard({"tools": [{**form, **own}, own, {"googleMaps": {}}]})
    assert guarded["tools"] == [form]


async def test_a_gemini_request_over_http_carries_them() -> None:
    genai = pytest.importorskip("google.genai")
    httpx = pytest.importorskip("httpx")
    bodies: list[Any] = []

    def answer(request: Any) -> Any:
        bodies.append(json.loads(request.content))
        call = {"functionCall": {"name": "exec", "args": {"code": "return 1"}}}
        content = {"role": "model", "parts": [call]}
        return httpx.Response(200, json={"candidates": [{"content": content}]})

    client = genai.Client(
        api_key="none",
        http_options=genai.types.HttpOptions(
            async_client_args={"transport": httpx.MockTransport(answer)}
        ),
    )
    async with CodeMode(True) as cm, cm.run(TOOLS) as run:
        config = genai.types.GenerateContentConfig(tools=wire.gemini(run.model_tools))
        reply = await client.aio.models.generate_content(model="m", contents="go", config=config)
        (call,) = reply.function_calls
        result = await run.call(call.name, call.args)
    assert result.to_dict()["value"] == 1
    sent = bodies[0]["tools"][0]["functionDeclarations"]
    assert sorted(d["name"] for d in sent) == list(SHOWN)
    # That API reads both spellings; which one goes out is the SDK's affair.
    schemas = [d.get("parametersJsonSchema") or d.get("parameters_json_schema") for d in sent]
    assert schemas[0]["required"] == ["code"]
    await client.aio.aclose()


async def test_the_other_sdks_take_their_forms() -> None:
    openai = pytest.importorskip("openai.types.responses")
    chat = pytest.importorskip("openai.types.chat")
    anthropic = pytest.importorskip("anthropic.types")
    pydantic = pytest.importorskip("pydantic")
    async with CodeMode(True) as cm:
        tools = cm.run(TOOLS).model_tools
    for kind, form in (
        (openai.FunctionToolParam, wire.openai_responses(tools)),
        (chat.ChatCompletionFunctionToolParam, wire.openai_chat(tools)),
        (anthropic.ToolParam, wire.anthropic(tools)),
    ):
        taken = pydantic.TypeAdapter(list[kind]).validate_python(form)
        assert len(taken) == 3
