"""The guest corpus on a worker under AddressSanitizer, on both routes.

    python -m tests.hostile.sanitize [arguments of pytest]

Builds the engine with gcc's AddressSanitizer and the worker with `--cfg codemode_sanitize`: each
block of the VM has forbidden zones, freed ones stay forbidden for long, and garbage is collected
before every allocation of an object. Needs cargo and gcc with libasan, and some minutes for the
first build. Exits with 0 if all cells gave the answers that they give otherwise and nothing was
found. Cells that race a clock, or that need seconds in such a build, are left out.
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
TIMED = ["call_rows", "call_timeout_race", "catalog_frozen", "timers_order", "timers_with_calls"]
CELLS = ["tests/test_guest_corpus.py", "-k", f"not ({' or '.join(TIMED)})"]
LOOP = [f"--override-ini=asyncio_default_{of}_loop_scope=session" for of in ("fixture", "test")]


@pytest_asyncio.fixture(scope="session", loop_scope="session", autouse=True)
async def one_zygote() -> AsyncIterator[None]:
    """All tests share a loop, and so the zygote: it takes seconds to build its VM."""
    held = codemode.engine.lease()
    await held.pool.ready()
    yield
    held.release()


def build(log: Path) -> Path:
    """Builds the worker; what it finds goes to files that begin with `log`."""
    place = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "sanitize"
    flags = "-O2 -g1 -fsanitize=address -fno-omit-frame-pointer -DFORCE_GC_AT_MALLOC"
    # The build compiles the engine for itself as well, for the prelude; that one is left as it is.
    compiler = place / "cc"
    place.mkdir(parents=True, exist_ok=True)
    compiler.write_text(
        f'#!/bin/sh\ncase "$*" in\n*/{TARGET}/*) exec cc "$@" {flags} ;;\nesac\nexec cc "$@"\n',
        "utf-8",
    )
    compiler.chmod(0o755)
    command = ["cargo", "build", "--locked", "-p", "codemode-worker", "--target", TARGET]
    environment = {
        **os.environ,
        "CARGO_TARGET_DIR": str(place),
        f"CC_{TARGET.replace('-', '_')}": str(compiler),
        "RUSTFLAGS": "--cfg codemode_sanitize -C link-arg=-fsanitize=address",
        "CODEMODE_SANITIZE_LOG": str(log),
    }
    subprocess.run(command, cwd=ROOT, env=environment, check=True)
    return place / TARGET / "debug" / "codemode-worker"


def main(arguments: list[str]) -> int:
    # The same place each time, or the worker would be built anew.
    log = Path(tempfile.gettempdir()) / f"codemode-sanitize-{os.getuid()}" / "found"
    log.parent.mkdir(exist_ok=True)
    for old in log.parent.iterdir():
        old.unlink()
    codemode.engine.WORKER_PATH = str(build(log))
    os.chdir(ROOT)
    # The plugin for loops is imported here before pytest imports it.
    quiet = "-Wignore::pytest.PytestAssertRewriteWarning"
    given = ["-q", "-p", "no:cacheprovider", quiet, *LOOP, *(arguments or CELLS)]
    status = int(pytest.main(given, plugins=[sys.modules[__name__]]))
    found = sorted(log.parent.iterdir())
    for report in found:
        print(f"\n== {report}\n{report.read_text('utf-8', 'replace')[:4000]}")
    print(f"{len(found)} reports of AddressSanitizer")
    return 1 if found else status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
