"""Servers for the tests of this folder."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from codemode.mcp import McpConfig, McpServers

SCRIPTED = Path(__file__).parent / "servers" / "scripted.py"


def scripted(*, more: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    """The configuration of a server that does what `spec` says; `more` are further keys of it."""
    return {
        "command": sys.executable,
        "args": ["-S", str(SCRIPTED), json.dumps(spec).replace("${", "$${")],
        **(more or {}),
    }


def config(**servers: dict[str, Any]) -> McpConfig:
    return McpConfig.parse({"mcpServers": servers}, environ={})


def started(**servers: dict[str, Any]) -> McpServers:
    """Waits for the servers for as long as a busy machine may need."""
    return McpServers(config(**servers), ready_within=60)


def tools(*names: str) -> list[dict[str, Any]]:
    return [{"name": name, "inputSchema": {"type": "object"}} for name in names]


def lines(log: Path) -> list[str]:
    return log.read_text().splitlines() if log.exists() else []


def alive(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in ("Z", "X")


def pids(log: Path, word: str = "start") -> list[int]:
    return [int(line.split()[1]) for line in lines(log) if line.startswith(f"{word} ")]


async def until(condition: Any, seconds: float = 5.0) -> None:
    """Returns once `condition()` holds.

    Raises:
        TimeoutError: It did not within `seconds`.
    """
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    while not condition():
        if loop.time() > end:
            raise TimeoutError("the condition did not come true")
        await asyncio.sleep(0.01)


def open_fds() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())
