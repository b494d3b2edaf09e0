"""Code mode inside a web service: one `CodeMode` for the process, one run per request.

pip install fastapi uvicorn
uvicorn examples.fastapi_app:app
curl -s localhost:8000/ask -H 'content-type: application/json' -d '{"prompt": "Unpaid?"}'
"""

from __future__ import annotations

import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from examples.scripted import ScriptedModel
from fastapi import FastAPI
from fastapi.responses import StreamingResponse
from pydantic import BaseModel

from codemode import CodeMode, Scope, tool
from codemode.agent import Agent

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


class Shipment(BaseModel):
    """A shipment."""

    id: str
    paid: bool
    tons: float


class Question(BaseModel):
    """What a client asks."""

    prompt: str
    session: str = "default"


@tool
async def list_shipments() -> list[Shipment]:
    """Lists the shipments of the port."""
    return [
        Shipment(id="S1", paid=True, tons=4),
        Shipment(id="S2", paid=False, tons=12),
        Shipment(id="S3", paid=False, tons=30),
    ]


PROGRAM = """
const shipments = await tools.list_shipments({});
return shipments.filter((s) => !s.paid).map((s) => s.id);
"""


def model() -> ScriptedModel:
    """In its place a service has a real one, such as `AnthropicMessages("claude-opus-5")`."""
    return ScriptedModel(
        {"exec": PROGRAM, "text": "Let me look. "},
        lambda seen: f"Unpaid: {', '.join(json.loads(seen.results[-1])['value'])}.",
    )


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Starts the sandbox with the service, and fails at once where it cannot run."""
    async with CodeMode(True) as cm:
        await cm.ready()
        app.state.code_mode = cm
        yield


app = FastAPI(lifespan=lifespan)


def agent_for(question: Question) -> Agent:
    """A run of its own for this request."""
    scope = Scope(agent_id="port", session_id=question.session)
    return Agent(app.state.code_mode, model(), tools=[list_shipments], scope=scope)


@app.post("/ask")
async def ask(question: Question) -> dict[str, Any]:
    """The whole answer with the run's metadata."""
    async with agent_for(question) as agent:
        answer = await agent.ask(question.prompt)
    return {"answer": answer.text, "metadata": dict(answer.metadata)}


@app.post("/stream")
async def stream(question: Question) -> StreamingResponse:
    """The events as JSON Lines, as they happen."""

    async def lines() -> AsyncIterator[str]:
        async with agent_for(question) as agent:
            async for event in agent.stream(question.prompt):
                if event["type"] != "answer":
                    yield json.dumps(event) + "\n"

    return StreamingResponse(lines(), media_type="application/x-ndjson")
