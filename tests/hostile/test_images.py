"""Images of someone who can write where they are kept, and make every checksum fit.

What SECURITY.md promises of them: they are only ever restored inside a confined worker, so they can
do what hostile native code in there can, which is nothing; and they get no other tools and limits
than those of the cell in whose place they are put.
"""

# ruff: noqa: E501 -- a program is one line

from __future__ import annotations

import asyncio
import random
import struct
import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from tests.fakes.images import PAGE, Parts, literal, pack, parts, seal
from tests.hostile.harness import PROBE, PROBE_VALUE, resident
from tests.hostile.live import descriptors, until

from codemode import CodeMode, CodeModeRun, Completed, Failed, Result, Tool, Waiting
from codemode.store import STORE

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [
    pytest.mark.hostile,
    pytest.mark.skipif(sys.platform != "linux", reason="workers need Linux"),
]

TIMEOUT_S = 1.0
LATE_S = 0.25
PROGRAM = "const kept = {a: [1, 2, 3], f: x => x + 1}; const p = tools.echo({value: 1}); setTimeout(() => kept.a.push(4), 5); await yield_control(); return [kept.f(await p), kept.a.length]"


def _tool(name: str) -> Tool:
    async def execute(given: Any, _: Any) -> Any:
        await asyncio.sleep(0)
        return given["value"]

    return Tool(name=name, execute=execute)


def _host() -> CodeMode:
    return CodeMode({"enabled": True, "timeoutMs": int(TIMEOUT_S * 1000)})


async def _park(run: CodeModeRun, code: str = PROGRAM) -> Any:
    for _ in range(10):
        result = await run.exec({"code": code})
        # Others may have the processor for as long as the deadline.
        if not (isinstance(result, Failed) and result.code == "timeout"):
            break
    assert isinstance(result, Waiting), result
    return STORE._slots[result.run_id].cell


async def _image(cm: CodeMode, code: str = PROGRAM) -> bytes:
    run = cm.run([_tool("echo")])
    cell = await _park(run, code)
    image = cell._image
    await run.close()
    assert isinstance(image, bytes)
    return image


async def _resume(run: CodeModeRun, image: bytes, code: str = PROGRAM) -> tuple[Result, float]:
    """What comes of an image in the place of another, and how late."""
    cell = await _park(run, code)
    cell._image = image
    begun = time.monotonic()
    result = await run.wait({"runId": cell.run_id})
    late = time.monotonic() - begun - TIMEOUT_S
    await run.abort()
    return result, late


def _forged(p: Parts, chance: random.Random) -> Iterator[tuple[str, bytes]]:
    """Images whose checksum fits; those named `damaged` cannot be taken for one."""
    count, tables = len(p.numbers), len(p.tables)
    raw = len(p.chunk())
    page = len(pack(p.pages[:PAGE]))
    for counts in (
        *((count + 1, tables, raw), (count, tables + 1, raw), (count, tables, raw + 1)),
        *((0, 0, 0), (1 << 63, tables, raw), (count, 1 << 63, raw), (count, tables, 1 << 31)),
        # As much as an arena holds, of next to nothing.
        *((0, 1280 << 20, 1280 << 20), (300_000, 0, 300_000 * (page + 4))),
    ):
        yield "damaged", p.image(counts)
    yield "damaged", replace(p, numbers=(*p.numbers[:-1], (1280 << 20) // PAGE)).image()
    yield "damaged", replace(p, numbers=(*p.numbers[:-1], 0xFFFFFFFF)).image()
    yield "damaged", replace(p, tables=p.tables[:-1]).image()
    yield "damaged", replace(p, tables=p.tables + b"\0").image()
    yield "damaged", replace(p, tables=b"\xff" * tables).image()
    yield "damaged", replace(p, tables=b"").image()
    for block in (b"", b"\0", b"\xff", b"\x0f\0\0\xff", b"\x1fx\1\0" + b"\xff" * 99, literal(b"x")):
        yield "damaged", seal(p.same, (count, tables, raw), block)
    # From here on an image as it may be, of a VM as it never was.
    yield "any", replace(p, pages=bytes(len(p.pages))).image()
    yield "any", replace(p, pages=b"\xff" * len(p.pages)).image()
    yield "any", replace(p, pages=chance.randbytes(len(p.pages))).image()
    # Over the allocator's own state.
    yield "any", replace(p, numbers=(0, 1, *p.numbers[2:])).image()
    yield "any", replace(p, numbers=tuple(reversed(p.numbers))).image()
    yield "any", replace(p, numbers=(p.numbers[0],) * count).image()
    yield "any", replace(p, numbers=(), pages=b"").image()
    for _ in range(25):
        yield (
            "any",
            p.with_byte("tables", chance.randrange(tables), 1 << chance.randrange(8)).image(),
        )
    # Every word of the tables that is a pointer leads somewhere else.
    for at in range(0, min(tables, 400) - 8, 8):
        word = struct.pack("<Q", chance.choice([0, 8, 0x100_0000_0000, 0x7FFF_FFFF_F000, 1 << 63]))
        yield "any", replace(p, tables=p.tables[:at] + word + p.tables[at + 8 :]).image()
    for _ in range(40):
        changed = p
        for _ in range(chance.choice([1, 10, 1000])):
            changed = changed.with_byte(
                "pages", chance.randrange(len(p.pages)), chance.randrange(256)
            )
        yield "any", changed.image()


@pytest.mark.parametrize(
    "seed", [1, *(pytest.param(n, marks=pytest.mark.slow) for n in range(2, 40))]
)
@pytest.mark.req("saf.1", "saf.2", "snp.4", "wai.6")
async def test_a_forged_image_harms_nobody(seed: int) -> None:
    chance = random.Random(seed)
    async with _host() as cm:
        await cm.ready()
        honest = parts(await _image(cm))
        run = cm.run([_tool("echo")])
        whole, _ = await _resume(run, honest.image())
        assert isinstance(whole, Completed), whole
        assert whole.value == [2, 4] or whole.value == [2, 3]
        fds, size = descriptors(), resident()
        for kind, image in _forged(honest, chance):
            result, late = await _resume(run, image)
            assert late < LATE_S or (await _resume(run, image))[1] < LATE_S, kind
            if kind == "damaged":
                assert isinstance(result, Failed), image[:100]
                assert "the image is damaged" in result.error
            # A worker may say anything, and die of anything; its host stays as it is.
            assert isinstance(result, Completed | Failed | Waiting)
        probe = await run.exec({"code": PROBE})
        assert isinstance(probe, Completed), probe
        assert probe.value == PROBE_VALUE
        await until(lambda: descriptors() <= fds + 4, "the end of all descriptors")
        assert resident() < size + 64 * (1 << 20)
    assert len(STORE) == 0


@pytest.mark.req("snp.4", "cat.2", "cat.11")
async def test_an_image_of_another_cell_gets_the_tools_of_the_cell_whose_place_it_takes() -> None:
    async with _host() as cm:
        rich = cm.run([_tool("secret"), _tool("echo")])
        later = "const t = tools.secret; await yield_control(); try { return await t({value: 'mine'}) } catch (e) { return e.message }"
        stolen = (await _park(rich, later))._image
        poor = cm.run([_tool("echo")])
        result, _ = await _resume(poor, stolen, "await yield_control(); return 'poor'")
    assert isinstance(result, Completed), result
    assert "openclaw:core:secret" in result.value
    assert "mine" not in result.value


@pytest.mark.req("snp.4", "saf.4")
async def test_an_older_image_of_a_cell_does_not_call_again() -> None:
    calls = []

    async def execute(given: Any, _: Any) -> Any:
        calls.append(given["n"])

    async with _host() as cm:
        run = cm.run([Tool(name="pay", execute=execute)])
        code = (
            "await yield_control(); await tools.pay({n: 1}); await yield_control(); return 'paid'"
        )
        cell = await _park(run, code)
        older = cell._image
        result = await run.wait({"runId": cell.run_id})
        assert isinstance(result, Waiting), result
        cell._image = older
        result = await run.wait({"runId": cell.run_id})
    assert isinstance(result, Failed), result
    assert "call ids out of order" in result.error
    assert calls == [1]
