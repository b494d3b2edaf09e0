"""What `codemode serve` costs and saves in front of MCP servers.

    python benches/mcp_overhead.py [--seconds 60] [--sessions 50] [--tools 100]

Prints: bytes and time of `tools/list` through serve and of the back ends themselves; latency of one
tool call, direct, as a program in serve, and as one of many calls in one program; and sessions at
once over HTTP for a while, with what is left afterwards.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from mcp import Client, StdioServerParameters

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

SCRIPTED = Path(__file__).parent.parent / "tests" / "mcp" / "servers" / "scripted.py"
SERVE = (
    "import argparse, sys; from codemode.mcp import serve;"
    "p = argparse.ArgumentParser(); serve.add_arguments(p); sys.exit(serve.run(p.parse_args()))"
)
BACK_ENDS = 4


def server(tools: int) -> dict[str, Any]:
    """A back end whose tools have schemas of an ordinary size."""
    fields = {
        f"field_{n}": {"type": "string", "description": f"What field {n} of the record is to hold."}
        for n in range(6)
    }
    schema = {"type": "object", "properties": fields, "required": ["field_0"]}
    about = "Does one thing to a record and gives the record back, with all its fields."
    page = [
        {"name": f"tool_{n}", "description": about, "inputSchema": schema} for n in range(tools - 1)
    ]
    spec = {"pages": [[*page, {"name": "echo", "inputSchema": {"type": "object"}}]]}
    return {"command": sys.executable, "args": ["-S", str(SCRIPTED), json.dumps(spec)]}


def direct(body: dict[str, Any]) -> Any:
    return stdio_client(StdioServerParameters(command=body["command"], args=body["args"]))


def serve(file: Path) -> Any:
    env = {"PYTHONPATH": os.environ.get("PYTHONPATH", "")}
    arguments = ["-c", SERVE, "--mcp", str(file)]
    return stdio_client(StdioServerParameters(command=sys.executable, args=arguments, env=env))


async def listing(client: Client) -> tuple[int, float]:
    began = time.perf_counter()
    result = await client.list_tools(cache_mode="refresh")
    took = time.perf_counter() - began
    return len(
        json.dumps(
            [t.model_dump(mode="json", by_alias=True, exclude_none=True) for t in result.tools]
        )
    ), took


async def median_ms(times: int, action: Callable[[], Awaitable[None]]) -> float:
    await action()
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        await action()
        taken.append(time.perf_counter() - began)
    return statistics.median(taken) * 1000


async def overhead(file: Path, bodies: dict[str, dict[str, Any]]) -> None:
    total, spent = 0, 0.0
    for body in bodies.values():
        async with Client(direct(body), mode="legacy") as client:
            size, took = await listing(client)
            total, spent = total + size, spent + took
    async with Client(direct(bodies["s0"]), mode="legacy") as client:

        async def call() -> None:
            result = await client.call_tool("echo", {"n": 1})
            assert result.content[0].text == '{"n": 1}'  # type: ignore[union-attr]

        plain = await median_ms(100, call)

    async with Client(serve(file)) as client:
        await client.list_tools()
        size, took = await listing(client)

        async def one() -> None:
            code = "return (await MCP.s0.echo({ n: 1 })).content[0].text;"
            result = await client.call_tool("exec", {"code": code})
            assert result.structured_content == {"status": "completed", "value": '{"n": 1}'}

        async def many() -> None:
            code = "let t; for (let i = 0; i < 100; i++) t = await MCP.s0.echo({ n: i }); return t;"
            result = await client.call_tool("exec", {"code": code})
            assert result.structured_content is not None, result
            assert result.structured_content["value"]["content"][0]["text"] == '{"n": 99}'

        program = await median_ms(100, one)
        each = await median_ms(5, many) / 100
    print(
        f"tools/list, bytes   back ends {total:>9,}   serve {size:>7,}   ({total / size:.0f} : 1)"
    )
    print(f"tools/list, ms      back ends {spent * 1000:>9.2f}   serve {took * 1000:>7.2f}")
    print(
        f"one call, ms        direct {plain:>12.2f}   as a program {program:.2f}"
        f"   in a loop {each:.2f}"
    )


@contextlib.asynccontextmanager
async def http(file: Path) -> AsyncIterator[tuple[str, int]]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-c", SERVE, "--mcp", str(file), "--http", "--port", "0"),
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "CODEMODE_SERVE_TOKEN": "bench"},
    )
    assert process.stderr is not None
    try:
        while "serving on" not in (line := (await process.stderr.readline()).decode()):
            assert line, "serve ended"
        yield line.split()[-1], process.pid
    finally:
        process.terminate()
        await process.wait()


def footprint(pid: int) -> tuple[int, int, int]:
    """Descriptors, child processes and resident KiB of a process."""
    status = Path(f"/proc/{pid}/status").read_text()
    resident = int(status.split("VmRSS:")[1].split()[0])
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir()), len(children), resident


async def session(url: str, number: int, until: float) -> tuple[int, int]:
    """Programs that a session ran, and those of them that had to wait."""
    ran = waited = 0
    async with httpx2.AsyncClient(headers={"Authorization": "Bearer bench"}, timeout=120) as client:
        while ran == 0 or time.monotonic() < until:
            transport = streamable_http_client(url, http_client=client)
            async with Client(transport, mode="legacy") as mcp:
                for n in range(20):
                    parks = n % 10 == 9
                    pause = "await yield_control();" if parks else ""
                    given = json.dumps({"n": number * 1000 + n})
                    code = f"""
                      const r = await MCP.s0.echo({given});
                      {pause}
                      return r.content[0].text;
                    """
                    result = await mcp.call_tool("exec", {"code": code})
                    seen = result.structured_content or {}
                    while seen.get("status") == "waiting":
                        waited += 1
                        again = await mcp.call_tool("wait", {"runId": seen["runId"]})
                        seen = again.structured_content or {}
                    assert seen == {"status": "completed", "value": given}, seen
                    ran += 1
    return ran, waited


async def load(file: Path, sessions: int, seconds: float) -> None:
    async with http(file) as (url, pid):
        await session(url, 0, time.monotonic() + 0.1)
        await asyncio.sleep(1)
        before = footprint(pid)
        end = time.monotonic() + seconds
        counts = await asyncio.gather(*(session(url, n, end) for n in range(sessions)))
        await asyncio.sleep(2)
        after = footprint(pid)
    ran, waited = (sum(column) for column in zip(*counts, strict=True))
    print(f"{sessions} sessions, {seconds:g} s    {ran:,} programs, {waited:,} waits, none lost")
    for what, was, now in zip(
        ("descriptors", "children", "resident KiB"), before, after, strict=True
    ):
        print(f"  {what:<14} before {was:>8,}   after {now:>8,}")


async def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--sessions", type=int, default=50)
    parser.add_argument("--tools", type=int, default=100, help="tools of all back ends together")
    args = parser.parse_args()
    bodies = {f"s{n}": server(args.tools // BACK_ENDS) for n in range(BACK_ENDS)}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "mcp.json"
        file.write_text(json.dumps({"mcpServers": bodies}))
        await overhead(file, bodies)
        await load(file, args.sessions, args.seconds)


if __name__ == "__main__":
    asyncio.run(main())
