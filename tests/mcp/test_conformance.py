"""The protocol's own conformance suite against `codemode serve` over HTTP."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

import pytest
import uvicorn
from tests.mcp.conformance_tools import TOOLS
from tests.mcp.helpers import until

from codemode import CodeModeConfig
from codemode.mcp import McpConfig
from codemode.mcp.serve import front

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.req("mcp.5")

# The others are about sampling, elicitation, logging, completion, resources, prompts and
# resumable streams, none of which this server offers.
SCENARIOS = (
    "server-initialize",
    "ping",
    "tools-list",
    "tools-call-simple-text",
    "tools-call-image",
    "tools-call-audio",
    "tools-call-embedded-resource",
    "tools-call-mixed-content",
    "tools-call-error",
    "tools-call-with-progress",
    "json-schema-2020-12",
    "server-sse-multiple-streams",
    "dns-rebinding-protection",
)


@pytest.mark.slow
@pytest.mark.parametrize("scenario", SCENARIOS)
async def test_the_conformance_suite_passes(scenario: str, npm_bin: Path, tmp_path: Path) -> None:
    suite = npm_bin.parent / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
    settings = CodeModeConfig(enabled=True)
    async with front(McpConfig(), settings, tuple(TOOLS)) as app:
        # The suite cannot send a token, so the application is served without its guard.
        asgi = app.server.streamable_http_app()
        server = uvicorn.Server(uvicorn.Config(asgi, port=0, log_level="error"))
        server.capture_signals = contextlib.nullcontext  # type: ignore[method-assign, assignment]
        serving = asyncio.create_task(server.serve())
        await until(lambda: server.started)
        port = server.servers[0].sockets[0].getsockname()[1]
        try:
            run = await asyncio.create_subprocess_exec(
                str(npm_bin / "node"),
                str(suite),
                "server",
                "--url",
                f"http://localhost:{port}/mcp",
                "--scenario",
                scenario,
                cwd=tmp_path,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
            )
            said, _ = await asyncio.wait_for(run.communicate(), 60)
        finally:
            server.should_exit = True
            await serving
    assert run.returncode == 0, said.decode()[-3000:]
