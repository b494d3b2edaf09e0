"""The guest corpus on a worker under AddressSanitizer, on both routes.

    python -m tests.hostile.sanitize [--every-allocation] [arguments of pytest]

Builds the engine with gcc's AddressSanitizer and the worker with `--cfg codemode_sanitize`: each
block of the VM has forbidden zones, freed ones stay forbidden for long, and garbage is collected
around every snapshot; with `--every-allocation` before every single allocation of an object too.
Needs cargo, gcc with libasan, and some minutes for the first build. Exits with 0 if all cells gave
the answers that they give otherwise and nothing was found.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

import codemode.engine

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

ROOT = Path(__file__).parents[2]
TARGET = f"{platform.machine()}-unknown-linux-gnu"
CELLS = ["tests/test_guest_corpus.py"]
LOOP = [f"--override-ini=asyncio_default_{of}_loop_scope=session" for of in ("fixture", "test")]


@pytest_asyncio.fixture(scope="session", loop_scope="session", autouse=True)
async def one_zygote() -> AsyncIterator[None]:
    """All tests share a loop, and so the zygote: it takes seconds to build its VM."""
    held = codemode.engine.lease()
    await held.pool.ready()
    yield
    held.release()


def build(every_allocation: bool, log: Path) -> Path:
    """Builds the worker; what it finds goes to files that begin with `log`."""
    kind = "collecting" if every_allocation else "plain"
    place = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / f"sanitize-{kind}"
    flags = "-O2 -g1 -fsanitize=address -fno-omit-frame-pointer"
    if every_allocation:
        flags += " -DFORCE_GC_AT_MALLOC"
    command = ["cargo", "build", "--locked", "-p", "codemode-worker", "--target", TARGET]
    environment = {
        **os.environ,
        "CARGO_TARGET_DIR": str(place),
        f"CFLAGS_{TARGET.replace('-', '_')}": flags,
        "RUSTFLAGS": "--cfg codemode_sanitize -C link-arg=-fsanitize=address",
        "CODEMODE_SANITIZE_LOG": str(log),
    }
    subprocess.run(command, cwd=ROOT, env=environment, check=True)
    return place / TARGET / "debug" / "codemode-worker"


def main(arguments: list[str]) -> int:
    every_allocation = "--every-allocation" in arguments
    rest = [a for a in arguments if a != "--every-allocation"]
    # The same place each time, or the worker would be built anew.
    log = Path(tempfile.gettempdir()) / f"codemode-sanitize-{os.getuid()}" / "found"
    log.parent.mkdir(exist_ok=True)
    for old in log.parent.iterdir():
        old.unlink()
    codemode.engine.WORKER_PATH = str(build(every_allocation, log))
    os.chdir(ROOT)
    cells = rest if any(not a.startswith("-") for a in rest) else [*rest, *CELLS]
    # The plugin for loops is imported here before pytest imports it.
    quiet = "-Wignore::pytest.PytestAssertRewriteWarning"
    arguments = ["-q", "-p", "no:cacheprovider", quiet, *LOOP, *cells]
    status = int(pytest.main(arguments, plugins=[sys.modules[__name__]]))
    found = sorted(log.parent.iterdir())
    for report in found:
        print(f"\n== {report}\n{report.read_text('utf-8', 'replace')[:4000]}")
    print(f"{len(found)} reports of AddressSanitizer")
    return 1 if found else status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
