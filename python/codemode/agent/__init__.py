"""A small agent loop over code mode, to be used or copied.

    async with CodeMode(True) as cm:
        agent = Agent(cm, AnthropicMessages("claude-opus-5"), tools=[...])
        answer = await agent.ask("How many unpaid shipments are there?")

Providers speak through the official SDKs (extra `agent`), imported when a request is sent. Any
object with the shape of `Provider` does as well.
"""

from __future__ import annotations

from .anthropic import AnthropicMessages
from .loop import Agent, Answer, TooManyTurns
from .messages import ModelRequest, Price, Provider, Reply, ToolCall, Usage
from .openai import OpenAIChat, OpenAIResponses
from .spawner import LoopSpawner
from .transcript import Transcript

__all__ = [
    "Agent",
    "Answer",
    "AnthropicMessages",
    "LoopSpawner",
    "ModelRequest",
    "OpenAIChat",
    "OpenAIResponses",
    "Price",
    "Provider",
    "Reply",
    "TooManyTurns",
    "ToolCall",
    "Transcript",
    "Usage",
]
