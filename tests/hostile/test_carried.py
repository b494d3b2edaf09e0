"""A suspended cell that is carried to another host process on disk."""

# ruff: noqa: ASYNC240, E501 -- a program has lines of any length

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from codemode import CodeMode, Completed, Tool, Waiting
from codemode.store import STORE

# Everything that an image must keep, and one call under way.
PROGRAM = r"""
let count = 40;
const add = n => (count += n);
class Box { #secret = 7n ** 30n; get secret() { return String(this.#secret); } static #n = 1; bump() { return Box.#n++; } }
const box = new Box();
function* numbers() { let n = 0; while (true) n += (yield n * 10) ?? 1; }
const it = numbers(); it.next(); it.next(5);
const key = {};
const weak = new WeakMap([[key, 'kept']]);
const map = new Map([[key, new Set([1, 2])], ['z', null]]);
const re = /o/g; re.exec('foo');
const call = tools.slow;
const all = Promise.all([call({n: 1}), Promise.resolve('now'), new Promise(f => { globalThis.later = f; })]);
let log = [];
all.then(x => log.push('all', x[1]));
await yield_control();
add(2); box.bump(); later('later');
return [count, box.secret, box.bump(), it.next().value, weak.get(key), map.get(key).has(2),
        re.lastIndex, re.exec('foo').index, await all, log, typeof tools.slow, new Error('e') instanceof Error];
"""
VALUE = [42, str(7**30), 2, 60, "kept", True, 2, 2, ["slow 1", "now", "later"], ["all", "now"]]
VALUE += ["function", True]
# The cell whose place the image takes in the other process; it has made the same call.
STAND_IN = "const p = tools.slow({n: 1}); await yield_control(); return await p"


def tools() -> list[Tool]:
    async def slow(given: Any, _: Any) -> str:
        await asyncio.sleep(0.05)
        return f"slow {given['n']}"

    return [Tool(name="slow", execute=slow)]


async def take(path: Path) -> None:
    """Suspends the program and writes its image."""
    async with CodeMode({"enabled": True, "timeoutMs": 20_000}) as cm:
        result = await cm.run(tools()).exec({"code": PROGRAM})
        assert isinstance(result, Waiting), result
        path.write_bytes(STORE._slots[result.run_id].cell._image)


async def resume(path: Path) -> None:
    """Goes on from the image of another process and prints the value."""
    async with CodeMode({"enabled": True, "timeoutMs": 20_000}) as cm:
        run = cm.run(tools())
        result = await run.exec({"code": STAND_IN})
        assert isinstance(result, Waiting), result
        STORE._slots[result.run_id].cell._image = path.read_bytes()
        while isinstance(result, Waiting):
            result = await run.wait({"runId": result.run_id})
        assert isinstance(result, Completed), result
        print(json.dumps(result.value))


@pytest.mark.hostile
@pytest.mark.req("snp.1", "snp.4", "rec.1")
def test_a_cell_goes_on_in_another_host_process(tmp_path: Path) -> None:
    path = tmp_path / "image"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    for step in ("take", "resume"):
        done = subprocess.run(
            [sys.executable, __file__, step, str(path)],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            env=env,
        )
        assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == VALUE


if __name__ == "__main__":
    asyncio.run({"take": take, "resume": resume}[sys.argv[1]](Path(sys.argv[2])))
