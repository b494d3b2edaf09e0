"""Kernels that refuse a part of the confinement, and what normal cells ask of the kernel.

That every other system call kills a sealed worker is proved by `rust/worker/tests/sealed.rs`.
"""

from __future__ import annotations

import asyncio
import errno
import json
import re
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from tests.hostile.denying import Denial, wrapper
from tests.hostile.harness import PROBE, PROBE_VALUE, nothing

from codemode import CodeMode, Completed, Failed, Tool, Waiting
from codemode.engine import WORKER_PATH

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.hostile

# First arguments of prctl.
_DEATH_SIGNAL, _DUMPABLE, _NO_NEW_PRIVS = 1, 4, 38

MANDATORY = [
    *(Denial("seccomp", error) for error in (errno.EPERM, errno.EINVAL, errno.ENOSYS)),
    *(
        Denial("prctl", errno.EINVAL, option)
        for option in (_DEATH_SIGNAL, _DUMPABLE, _NO_NEW_PRIVS)
    ),
    Denial("setsid"),
    Denial("timer_create", errno.EAGAIN),
    Denial("prlimit64"),
]
OPTIONAL = {
    "namespaces": [Denial("unshare"), Denial("unshare", errno.ENOSPC)],
    "landlock": [
        Denial("landlock_create_ruleset", errno.ENOSYS),
        Denial("landlock_create_ruleset", errno.EOPNOTSUPP),
        Denial("landlock_restrict_self"),
    ],
}


@pytest.mark.parametrize("denial", MANDATORY, ids=str)
@pytest.mark.req("saf.5", "act.4")
async def test_without_a_mandatory_layer_no_guest_code_runs(
    denial: Denial, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[Any] = []
    secret = Tool(name="secret", execute=lambda *a: ran.append(a))
    worker = wrapper(tmp_path / "codemode-worker", WORKER_PATH, denial)
    monkeypatch.setattr("codemode.engine.WORKER_PATH", worker)
    async with CodeMode({"enabled": True, "timeoutMs": 5_000}) as cm:
        run = cm.run([secret])
        for _ in range(2):
            result = await asyncio.wait_for(run.exec({"code": "await tools.secret()"}), 20)
            assert isinstance(result, Failed), result
            assert result.code == "runtime_unavailable", result
            # What the kernel said.
            assert f"(os error {denial.error})" in result.error, result.error
    assert ran == []


@pytest.mark.parametrize(
    ("layer", "denial"),
    [pytest.param(layer, d, id=f"{layer}-{d}") for layer, them in OPTIONAL.items() for d in them],
)
@pytest.mark.req("saf.5")
async def test_without_an_optional_layer_the_report_says_so(
    layer: str, denial: Denial, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = wrapper(tmp_path / "codemode-worker", WORKER_PATH, denial)
    monkeypatch.setattr("codemode.engine.WORKER_PATH", worker)
    async with CodeMode({"enabled": True, "timeoutMs": 5_000}) as cm:
        run = cm.run([nothing()])
        result = await asyncio.wait_for(run.exec({"code": PROBE}), 20)
        assert isinstance(result, Completed), result
        assert result.value == PROBE_VALUE
        report = json.loads(run._host.pool().report)
        assert report[layer].startswith("unavailable: "), report
        assert report["seccomp"] == "active in every worker"


ALLOWED = {
    "read", "write", "exit", "exit_group", "clock_gettime", "rt_sigreturn", "getrandom",
    "timer_settime",
}  # fmt: skip
CELLS = [
    PROBE,
    "return [Math.random(), Date.now(), performance.now(), crypto.randomUUID()].length",
    "return (await Promise.all([tools.slow({n: 1}), tools.slow({n: 2})])).concat(ALL_TOOLS.length)",
    "await yield_control(); return (await tools.slow({x: 'x'.repeat(300_000)})).x.length",
    "await new Promise(f => setTimeout(f, 30)); text('x'.repeat(9_000)); json([...'abc']); return",
    "const all = []; for (let i = 0; i < 300; i++) all.push(new Uint8Array(90_000)); return 1",
    "throw new Error('an end like any other')",
    "const f = n => f(n + 1); return f(0)",
    "let s = 'x'; for (;;) s += s",
    "const keep = []; for (;;) keep.push(new Array(1000).fill({}))",
    "for (;;);",
    "return a b",
]


def _straced(tmp_path: Path) -> str:
    """A worker whose system calls are written down."""
    strace = shutil.which("strace")
    if strace is None:
        pytest.skip("strace is not installed: what normal cells ask of the kernel is not checked")
    tried = subprocess.run([strace, "-o", "/dev/null", "true"], capture_output=True, check=False)
    if tried.returncode:
        pytest.skip(f"no process may be traced here: {tried.stderr.decode(errors='replace')}")
    path = tmp_path / "codemode-worker"
    log = tmp_path / "calls"
    path.write_text(f"#!/bin/sh\nexec {strace} -f -qq -o {log} {WORKER_PATH}\n", "utf-8")
    path.chmod(0o755)
    return str(path)


@pytest.mark.req("saf.1", "saf.5")
async def test_cells_ask_nothing_of_the_kernel_that_is_not_on_the_list(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def slow(given: Any, _: Any) -> Any:
        await asyncio.sleep(0.02)
        return given

    monkeypatch.setattr("codemode.engine.WORKER_PATH", _straced(tmp_path))
    statuses = []
    config = {"enabled": True, "timeoutMs": 2_000, "memoryLimitBytes": 32 << 20}
    async with CodeMode(config, _park_every_turn=True) as cm:
        run = cm.run([Tool(name="slow", execute=slow)])
        for code in CELLS:
            result = await run.exec({"code": code})
            while isinstance(result, Waiting):
                result = await run.wait({"runId": result.run_id})
            statuses.append(result.status)
    assert statuses == ["completed"] * 6 + ["failed"] * 6

    sealed: dict[str, set[str]] = {}
    ends = set()
    for line in (tmp_path / "calls").read_text("utf-8", "replace").splitlines():
        pid, _, what = line.partition(" ")
        what = what.strip()
        if what.startswith("+++ "):
            ends.add(what)
        name = re.match(r"(?:<\.\.\. )?(\w+)[( ]", what)
        if name is None or what.startswith(("+++", "---")):
            continue
        if pid in sealed:
            sealed[pid].add(name[1])
        elif re.search(r"seccomp\(SECCOMP_SET_MODE_FILTER.*= 0$", what):
            sealed[pid] = set()
    assert len(sealed) >= len(CELLS) / 2
    asked = set().union(*sealed.values())
    assert asked <= ALLOWED, asked - ALLOWED
    assert {"read", "write"} < asked
    # Nobody tried anything else either.
    assert not [end for end in ends if "SIGSYS" in end or "SIGSEGV" in end], ends


@pytest.mark.req("saf.1", "saf.2")
async def test_a_small_native_stack_of_the_host_is_not_the_workers(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "codemode-worker"
    path.write_text(f"#!/bin/sh\nulimit -S -s 512\nexec {WORKER_PATH}\n", "utf-8")
    path.chmod(0o755)
    monkeypatch.setattr("codemode.engine.WORKER_PATH", str(path))
    async with CodeMode({"enabled": True, "timeoutMs": 5_000}) as cm:
        run = cm.run([nothing()])
        result = await run.exec({"code": "const f = n => f(n + 1); return f(0)"})
        assert isinstance(result, Failed), result
        assert result.limit == "stack", result
