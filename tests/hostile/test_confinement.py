"""What a worker can still reach, looked at from outside while guest code runs in it."""

# ruff: noqa: ASYNC220, ASYNC221, ASYNC240, PTH115 -- nothing else runs on these loops

from __future__ import annotations

import asyncio
import os
import secrets
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.hostile.harness import PROBE, PROBE_VALUE, nothing
from tests.hostile.live import alive, present, status, worker_of, zygote_of

from codemode import CodeMode, Completed, Failed, Tool
from codemode.engine import WORKER_PATH

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

pytestmark = pytest.mark.hostile

CANARY = "canary-" + secrets.token_hex(16)


@pytest.fixture(scope="module", autouse=True)
def _secret_in_the_environment() -> Any:
    patch = pytest.MonkeyPatch()
    patch.setenv("HOSTILE_TEST_SECRET", CANARY)
    yield
    patch.undo()


@pytest.fixture
async def busy() -> AsyncIterator[Any]:
    """A run, and the process of a worker that executes a loop in it."""
    async with CodeMode({"enabled": True, "timeoutMs": 20_000}) as cm:
        await cm.ready()
        run = cm.run([nothing()])
        task = asyncio.create_task(run.exec({"code": "const mark = 'guest-' + 'mark'; for (;;);"}))
        worker = await worker_of(run)
        # The order to start is read by a worker that is sealed already.
        await asyncio.sleep(0.2)
        assert not task.done()
        yield run, worker.pid
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@pytest.mark.req("saf.1", "saf.5")
async def test_a_worker_is_sealed_while_guest_code_runs(busy: Any) -> None:
    _, pid = busy
    seen = status(pid)
    assert (seen["Seccomp"], seen["NoNewPrivs"], seen["Threads"]) == ("2", "1", "1")


@pytest.mark.req("saf.1")
async def test_a_worker_has_no_descriptor_but_its_socket(busy: Any) -> None:
    _, pid = busy
    found = {fd.name: os.readlink(fd) for fd in Path(f"/proc/{pid}/fd").iterdir()}
    assert list(found) == ["3"]
    assert found["3"].startswith("socket:")


@pytest.mark.req("saf.1")
async def test_a_worker_has_no_environment_and_no_arguments(busy: Any) -> None:
    run, pid = busy
    for process in (pid, zygote_of(run)):
        assert Path(f"/proc/{process}/environ").read_bytes().strip(b"\0") == b""
        assert CANARY.encode() not in Path(f"/proc/{process}/cmdline").read_bytes()
        assert os.readlink(f"/proc/{process}/cwd") == "/"


@pytest.mark.req("saf.1")
async def test_no_memory_of_a_worker_is_both_writable_and_executable(busy: Any) -> None:
    _, pid = busy
    maps = Path(f"/proc/{pid}/maps").read_text().splitlines()
    modes = [line.split()[1] for line in maps]
    assert modes
    assert not [line for line in maps if {"w", "x"} <= set(line.split()[1])]
    files = {line.split(maxsplit=5)[5] for line in maps if len(line.split(maxsplit=5)) > 5}
    assert {f for f in files if f.startswith("/")} <= {WORKER_PATH}


@pytest.mark.req("saf.1")
async def test_a_worker_is_under_resource_limits(busy: Any) -> None:
    _, pid = busy
    rows = {}
    for line in Path(f"/proc/{pid}/limits").read_text().splitlines()[1:]:
        rows[line[:26].strip()] = line[26:].split()[:2]
    for name in ("Max core file size", "Max file size", "Max open files", "Max processes"):
        assert rows[name] == ["0", "0"], name
    assert int(rows["Max cpu time"][1]) <= 120
    assert int(rows["Max address space"][1]) <= 8 << 30


@pytest.mark.req("saf.1")
async def test_a_worker_has_its_own_namespaces_where_there_are_any(busy: Any) -> None:
    run, pid = busy
    if '"namespaces":"active"' not in (run._host.pool().report or "").replace(" ", ""):
        pytest.skip("this system allows no namespaces")
    for kind in ("net", "ipc", "uts", "user"):
        assert os.readlink(f"/proc/{pid}/ns/{kind}") != os.readlink(f"/proc/self/ns/{kind}")


@pytest.mark.skipif(os.geteuid() != 0, reason="reads the memory of another process")
@pytest.mark.req("saf.1")
async def test_nothing_of_the_hosts_memory_is_in_a_worker(busy: Any) -> None:
    run, pid = busy
    heap = [f"{CANARY}-{i}" for i in range(100)]
    for process in (pid, zygote_of(run)):
        memory = present(process)
        assert len(memory) > 100_000
        assert CANARY.encode() not in memory
        assert CANARY.encode("utf-16-le") not in memory
        assert b"HOSTILE_TEST_SECRET" not in memory
    # The look itself sees what is there.
    assert b"guest-" in present(pid)
    assert heap[0].encode() in present(os.getpid())


@pytest.mark.skipif(os.geteuid() != 0, reason="reads the memory of another process")
@pytest.mark.req("exe.16", "saf.3")
async def test_nothing_of_one_run_is_in_the_worker_of_another() -> None:
    async with CodeMode({"enabled": True, "timeoutMs": 20_000}) as cm:
        # A process may serve further cells of its run; its own heap is of that run then.
        earlier, run = cm.run([nothing()]), cm.run([nothing()])
        word = "earlier" + secrets.token_hex(8)
        done = await earlier.exec({"code": f"globalThis.x = '{word}'; return x.length"})
        assert isinstance(done, Completed)
        task = asyncio.create_task(run.exec({"code": "for (;;);"}))
        worker = await worker_of(run)
        await asyncio.sleep(0.2)
        for process in (worker.pid, zygote_of(run)):
            assert word.encode() not in present(process)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@pytest.mark.req("saf.1")
async def test_a_worker_dies_with_its_host(tmp_path: Path) -> None:
    script = tmp_path / "host.py"
    script.write_text(
        "import asyncio\n"
        "from codemode import CodeMode, Tool\n"
        "from tests.hostile.live import worker_of, zygote_of\n"
        "async def main():\n"
        "    cm = CodeMode({'enabled': True, 'timeoutMs': 60000})\n"
        "    run = cm.run([Tool(name='nothing', execute=lambda *_: None)])\n"
        "    task = asyncio.create_task(run.exec({'code': 'for (;;);'}))\n"
        "    worker = await worker_of(run)\n"
        "    print(worker.pid, zygote_of(run), flush=True)\n"
        "    await task\n"
        "asyncio.run(main())\n",
        "utf-8",
    )
    host = subprocess.Popen(
        [sys.executable, str(script)],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
    )
    assert host.stdout is not None
    pids = [int(pid) for pid in host.stdout.readline().split()]
    assert len(pids) == 2
    host.kill()
    host.wait()
    host.stdout.close()
    for _ in range(500):
        if not any(alive(pid) for pid in pids):
            return
        await asyncio.sleep(0.01)
    pytest.fail(f"{[pid for pid in pids if alive(pid)]} outlived their host")


def _broken(kind: str, tmp_path: Path) -> str:
    path = tmp_path / "codemode-worker"
    if kind == "a directory":
        path.mkdir()
        return str(path)
    if kind != "missing":
        whole = Path(WORKER_PATH).read_bytes()
        content = {
            "not executable": whole,
            "empty": b"",
            "garbage": b"\x7fELF" + secrets.token_bytes(4096),
            "truncated": whole[: len(whole) // 2],
            "exits at once": b"#!/bin/sh\nexit 3\n",
            "says nothing": b"#!/bin/sh\nexec sleep 600\n",
            "says nonsense": b"#!/bin/sh\necho nonsense >&3\nexec sleep 600\n",
            "is killed": b"#!/bin/sh\nkill -9 $$\n",
        }[kind]
        path.write_bytes(content)
        path.chmod(0o644 if kind == "not executable" else 0o755)
    return str(path)


@pytest.mark.parametrize(
    "kind",
    [
        "missing",
        "not executable",
        "empty",
        "garbage",
        "truncated",
        "a directory",
        "exits at once",
        "says nothing",
        "says nonsense",
        "is killed",
    ],
)
@pytest.mark.req("act.4", "saf.5", "exe.2")
async def test_without_a_working_worker_nothing_runs_and_no_tool_shows(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[Any] = []
    secret = Tool(name="secret", execute=lambda *a: ran.append(a))
    monkeypatch.setattr("codemode.engine.WORKER_PATH", _broken(kind, tmp_path))
    async with CodeMode({"enabled": True, "timeoutMs": 1_000}) as cm:
        run = cm.run([secret])
        for _ in range(2):
            result = await asyncio.wait_for(run.exec({"code": "return await tools.secret()"}), 10)
            assert isinstance(result, Failed), result
            assert result.code == "runtime_unavailable", result
        assert run.engaged
        assert [tool.name for tool in run.model_tools] == ["exec", "wait"]
        direct = await run.call("secret", {})
        assert isinstance(direct, Failed)
        assert ran == []
        # And once it is repaired, the same run works.
        monkeypatch.setattr("codemode.engine.WORKER_PATH", WORKER_PATH)
        if kind != "says nothing":
            after = await run.exec({"code": PROBE})
            assert isinstance(after, Completed), after
            assert after.value == PROBE_VALUE


@pytest.mark.req("saf.5")
async def test_a_worker_that_cannot_map_its_memory_is_told(tmp_path: Path) -> None:
    script = (
        "import asyncio, resource\n"
        "resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))\n"
        "from codemode import CodeMode, Tool\n"
        "async def main():\n"
        "    async with CodeMode(True) as cm:\n"
        "        run = cm.run([Tool(name='nothing', execute=lambda *_: None)])\n"
        "        print((await run.exec({'code': 'return 1'})).code)\n"
        "asyncio.run(main())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout.split() == ["runtime_unavailable"], done.stderr
