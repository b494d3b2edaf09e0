"""Looking at the processes of a run while it runs."""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from codemode import CodeModeRun

PATIENCE_S = 10.0


async def until(met: Any, what: str = "it") -> Any:
    """What `met` gives as soon as that is truthy."""
    end = time.monotonic() + PATIENCE_S
    while not (got := met()):
        assert time.monotonic() < end, f"{what} did not happen"
        await asyncio.sleep(0.002)
    return got


async def worker_of(run: CodeModeRun) -> Any:
    """The worker that a cell of `run` runs in, once its process is known."""

    def look() -> Any:
        for cell in run._cells:
            if cell._live is not None and cell._live._worker.pid:
                return cell._live._worker
        return None

    return await until(look, "a worker")


def status(pid: int) -> dict[str, str]:
    """Rows of a process's status."""
    lines = Path(f"/proc/{pid}/status").read_text("ascii").splitlines()
    return {key: value.strip() for key, _, value in (line.partition(":") for line in lines)}


def alive(pid: int) -> bool:
    """Whether a process is there and not merely waiting to be reaped."""
    try:
        return status(pid)["State"][0] not in "ZX"
    except (OSError, KeyError):
        return False


def zygote_of(run: CodeModeRun) -> int:
    """Process id of the zygote."""
    return int(run._host.pool()._zygote.pid)


def present(pid: int) -> bytes:
    """All memory of a process that is there, as root sees it."""
    page = os.sysconf("SC_PAGE_SIZE")
    out = bytearray()
    with (
        Path(f"/proc/{pid}/maps").open() as maps,
        Path(f"/proc/{pid}/pagemap").open("rb") as pagemap,
        Path(f"/proc/{pid}/mem").open("rb", buffering=0) as memory,
    ):
        for line in maps:
            span, mode = line.split()[:2]
            start, end = (int(x, 16) for x in span.split("-"))
            if "r" not in mode or line.rstrip().endswith(("[vvar]", "[vsyscall]", "[vvar_vclock]")):
                continue
            pagemap.seek(start // page * 8)
            entries = memoryview(pagemap.read((end - start) // page * 8)).cast("Q")
            for number, entry in enumerate(entries):
                if entry >> 62:
                    memory.seek(start + number * page)
                    with contextlib.suppress(OSError):
                        out += memory.read(page)
    return bytes(out)


def descriptors() -> int:
    """How many descriptors this process has."""
    return len(list(Path("/proc/self/fd").iterdir()))
