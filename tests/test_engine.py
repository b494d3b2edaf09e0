"""The pool of workers of a loop."""

from __future__ import annotations

import asyncio
import gc
import multiprocessing
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from codemode import CodeMode, Completed, Failed, RuntimeUnavailable, Tool
from codemode._engine import PROTOCOL
from codemode.engine import _FOREIGN, _POOLS, lease
from codemode.worker import LiveWorker

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="workers need Linux")


class Owner:
    pass


def take(pool: Any, owner: object = None) -> Any:
    return pool.take(
        owner or Owner(),
        max_frame=1 << 20,
        max_output=1 << 16,
        fetch=lambda *_: b"\0",
        deadline=asyncio.get_running_loop().time() + 10,
    )


def open_fds() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


async def test_one_pool_serves_a_loop_and_the_last_lease_closes_it() -> None:
    one, two = lease(), lease()
    assert one.pool is two.pool
    await one.pool.ready()
    pid = one.pool._zygote.pid
    one.release()
    one.release()
    os.kill(pid, 0)
    two.release()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert not _POOLS


async def test_workers_are_ready_before_they_are_asked_for() -> None:
    held = lease()
    await held.pool.ready()
    live = await take(held.pool)
    assert isinstance(live, LiveWorker)
    live.discard()
    live.discard()
    assert len(held.pool._ready) == 1
    for _ in range(5_000):
        if len(held.pool._ready) == 2:
            break
        await asyncio.sleep(0.001)
    assert len(held.pool._ready) == 2
    held.release()


@pytest.mark.req("saf.2")
async def test_a_worker_that_died_while_it_was_idle_is_not_given_out() -> None:
    held = lease()
    pool = held.pool
    await pool.ready()
    while any(worker.pid is None for worker in pool._ready):  # noqa: ASYNC110
        await asyncio.sleep(0.001)
    dead = [worker.pid for worker in pool._ready]
    for pid in dead:
        os.kill(pid, signal.SIGKILL)
    await asyncio.sleep(0.05)
    live = await take(pool)
    while live._worker.pid is None:  # noqa: ASYNC110
        await asyncio.sleep(0.001)
    assert live._worker.pid not in dead
    live.discard()
    held.release()


@pytest.mark.req("saf.5")
async def test_a_missing_binary_is_told_with_its_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("codemode.engine.WORKER_PATH", "/nonexistent/worker")
    held = lease()
    with pytest.raises(RuntimeUnavailable, match="/nonexistent/worker"):
        await take(held.pool)
    with pytest.raises(RuntimeUnavailable):
        await held.pool.ready()
    held.release()


STARTS = {
    "another build": (
        "s.send(b'H0.0.1-00'); s.recv(9)",
        "worker and extension are from different builds: reinstall codemode",
    ),
    "a start that fails": (
        f"s.send(b'H{PROTOCOL}'); s.send(b'E\\0\\0\\0\\0the arena cannot be mapped'); os._exit(70)",
        "the arena cannot be mapped",
    ),
}


@pytest.mark.req("saf.5", "act.4")
@pytest.mark.parametrize(("does", "text"), STARTS.values(), ids=STARTS.keys())
async def test_why_no_worker_starts_is_told_to_the_caller(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, does: str, text: str
) -> None:
    script = tmp_path / "zygote"
    head = f"#!{sys.executable} -IS\nimport os, socket\ns = socket.socket(fileno=3)\n"
    script.write_text(f"{head}{does}\n")
    script.chmod(0o755)
    monkeypatch.setattr("codemode.engine.WORKER_PATH", str(script))
    async with CodeMode({"enabled": True}) as cm:
        result = await cm.run([Tool(name="nothing", execute=lambda *_: None)]).exec({"code": "1"})
        assert isinstance(result, Failed)
        assert result.code == "runtime_unavailable"
        assert text in result.error
        with pytest.raises(RuntimeUnavailable, match=text):
            await cm.ready()


@pytest.mark.req("saf.5")
async def test_a_platform_without_confinement_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("codemode.engine.sys.platform", "darwin")
    held = lease()
    with pytest.raises(RuntimeUnavailable, match="darwin"):
        await take(held.pool)
    held.release()


@pytest.mark.req("saf.1")
async def test_a_hundred_workers_leave_no_descriptor_behind() -> None:
    held = lease()
    await held.pool.ready()
    before = open_fds()
    for _ in range(5):
        lives = await asyncio.gather(*(take(held.pool) for _ in range(20)))
        for live in lives:
            live.discard()
        await asyncio.sleep(0.01)
    # Two ready workers, as before; their pidfds come and go with the zygote's reports.
    for _ in range(200):
        if open_fds() <= before + 4:
            break
        await asyncio.sleep(0.01)
    assert open_fds() <= before + 4
    held.release()


async def test_a_fork_of_the_host_does_not_touch_its_processes() -> None:
    held = lease()
    await held.pool.ready()
    pid = held.pool._zygote.pid
    child = os.fork()
    if child == 0:
        try:
            held.release()
            os._exit(0 if not _POOLS else 1)
        finally:
            os._exit(2)
    _, status = os.waitpid(child, 0)  # noqa: ASYNC222
    assert os.waitstatus_to_exitcode(status) == 0
    os.kill(pid, 0)
    live = await take(held.pool)
    live.discard()
    held.release()


def _leave() -> None:
    # The objects of the parent go when this process ends.
    _POOLS.clear()
    _FOREIGN.clear()
    gc.collect()


@pytest.mark.req("saf.1")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
async def test_a_process_of_multiprocessing_leaves_the_workers_of_its_parent_alone() -> None:
    async with CodeMode({"enabled": True}) as cm:
        await cm.ready()
        run = cm.run([Tool(name="nothing", execute=lambda *_: None)])
        waiting = await run.exec({"code": "await yield_control(); return 1"})
        zygote = run._host.pool()._zygote.pid
        for end in (_leave, sys.exit):
            child = multiprocessing.get_context("fork").Process(target=end)
            child.start()
            child.join(20)
            assert child.exitcode == 0
        os.kill(zygote, 0)
        result = await run.wait({"runId": waiting.run_id})
        assert isinstance(result, Completed)
        assert run._host.pool()._zygote.pid == zygote
        assert run._host.pool().lost == 0


def test_a_loop_that_was_closed_without_a_close_leaves_its_pool_to_the_next() -> None:
    async def begin() -> Any:
        held = lease()
        await held.pool.ready()
        return held

    held = asyncio.run(begin())
    pid = held.pool._zygote.pid
    other = asyncio.run(begin())
    assert other.pool is not held.pool
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    other.release()
    held.release()


@pytest.mark.req("saf.1", "saf.3", "exe.16")
async def test_a_process_serves_further_cells_of_its_run_only_and_none_after_a_limit() -> None:
    async def pids(run: Any, program: str) -> int:
        result = await run.exec({"code": program})
        assert result.status in ("completed", "failed")
        worker = run._pool._kept.get(run)
        return 0 if worker is None else worker.serial

    async with CodeMode({"enabled": True, "memoryLimitBytes": 4 << 20}) as cm:
        one, other = cm.run(), cm.run()
        spoil = "globalThis.left = 1; Array.prototype.map = null; Object.prototype.x = 1; return 1"
        first = await pids(one, spoil)
        assert await pids(one, "return 1") == first
        clean = await one.exec({"code": "return [typeof left, typeof [].map, {}.x ?? null]"})
        assert clean.value == ["undefined", "function", None]
        assert await pids(other, "return 1") != first
        assert await pids(one, "const a = []; for (;;) a.push('x'.repeat(1e5) + a.length)") == 0
        assert await pids(one, "return 1") not in (0, first)
        await one.close()
        assert one not in one._pool._kept
