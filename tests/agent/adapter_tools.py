"""Tools and programs that the tests of all adapters use."""

from __future__ import annotations

import asyncio
from typing import Any

from codemode import Tool, ToolResult


async def add(given: Any, _: Any) -> Any:
    return given["a"] + given["b"]


async def image(given: Any, _: Any) -> Any:
    return ToolResult(content=[{"type": "image", "data": "AAAA", "mimeType": "image/png"}])


class Slow:
    """A tool that blocks until it is released, and says whether it was cancelled."""

    def __init__(self) -> None:
        self.release = asyncio.Event()
        self.started = asyncio.Event()
        self.cancelled = False

    async def wait(self) -> str:
        self.started.set()
        try:
            await self.release.wait()
        except asyncio.CancelledError:
            self.cancelled = True
            raise
        return "slept"

    async def execute(self, given: Any, _: Any) -> str:
        return await self.wait()


TOOLS = (
    Tool(name="add", execute=add),
    Tool(name="screenshot", execute=image, direct_only=True),
)
SHOWN = ("exec", "screenshot", "wait")
CODE = "return await tools.add({a: 1, b: 2})"
# Too short for a slow tool, long enough for everything else on a loaded machine.
QUICK = {"enabled": True, "timeoutMs": 1_000}
