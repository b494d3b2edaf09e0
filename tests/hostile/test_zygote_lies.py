"""A zygote that lies: it holds no guest code, and yet nothing that it says is believed."""

from __future__ import annotations

import contextlib
import gc
import os
import socket
import struct
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.fakes import frames
from tests.fakes.zygote import Stage
from tests.hostile.harness import resident
from tests.hostile.live import descriptors

from codemode._engine import PROTOCOL, ProtocolError, Worker, WorkerDied

pytestmark = [
    pytest.mark.hostile,
    pytest.mark.skipif(sys.platform != "linux", reason="workers need Linux"),
]

_SERIAL = st.one_of(st.integers(0, 4), st.sampled_from([5, 1 << 31, (1 << 32) - 1]))
_NUMBER = st.one_of(st.integers(-3, 3), st.integers(-(1 << 31), (1 << 31) - 1))
_TEXT = st.binary(max_size=40)
_HONEST = st.one_of(
    st.just(b"H" + PROTOCOL.encode()),
    _TEXT.map(lambda text: b"T" + struct.pack("<I", len(text)) + text),
    st.builds(lambda serial, pid: struct.pack("<4sIi", b"P", serial, pid), _SERIAL, _NUMBER),
    st.builds(lambda serial, text: b"E" + struct.pack("<I", serial) + text, _SERIAL, _TEXT),
    st.builds(lambda serial, status: struct.pack("<4sIi", b"X", serial, status), _SERIAL, _NUMBER),
)


def _change(message: bytes, edits: list[tuple[int, int]], cut: int) -> bytes:
    changed = bytearray(message)
    for at, byte in edits:
        changed[at % len(changed)] = byte
    return bytes(changed[: max(1, len(changed) - cut)])


_CHANGED = st.builds(
    _change,
    _HONEST,
    st.lists(st.tuples(st.integers(0, 60), st.integers(0, 255)), max_size=2),
    st.sampled_from([0, 0, 1, 4]),
)
_MESSAGE = st.one_of(_HONEST, _HONEST, _CHANGED, st.binary(min_size=1, max_size=30))
# With how many descriptors; only the news of a process has one.
_SAID = st.tuples(_MESSAGE, st.sampled_from([None, None, None, 0, 1, 2]))


def _play(said: list[tuple[bytes, int | None]], greet: bool) -> None:
    with Stage(greet=greet) as stage:
        asked = [stage.worker() for _ in range(3)]
        for message, count in said:
            count = int(message[:1] == b"P") if count is None else count
            with open(os.devnull) as null, contextlib.suppress(OSError):  # noqa: PTH123
                socket.send_fds(stage.control, [message], [null.fileno()] * count)
            with contextlib.suppress(ProtocolError, WorkerDied):
                stage.zygote.poll()
        for worker, peer in asked:
            _use(worker, peer)
        with contextlib.suppress(ProtocolError, WorkerDied):
            stage.zygote.fork()


def _use(worker: Worker, peer: socket.socket) -> None:
    with contextlib.suppress(OSError):
        peer.send(frames.finished(1))
    with contextlib.suppress(WorkerDied):
        assert worker.recv() is not None
    assert worker.exit_status is None or isinstance(worker.exit_status, int)
    worker.kill()
    worker.close()


@pytest.mark.parametrize(
    "examples", [15, pytest.param(5_000, marks=pytest.mark.slow)], ids=lambda n: f"{n} examples"
)
@pytest.mark.req("saf.4")
def test_no_lie_of_a_zygote_harms_the_host(examples: int) -> None:
    @settings(
        max_examples=examples, deadline=None, database=None, suppress_health_check=list(HealthCheck)
    )
    @given(st.lists(_SAID, max_size=6), st.sampled_from([True, True, False]))
    def lies_do_no_harm(said: list[tuple[bytes, int | None]], greet: bool) -> None:
        _play(said, greet)
        gc.collect()
        assert descriptors() == fds

    _play([], greet=True)
    gc.collect()
    fds, size = descriptors(), resident()
    lies_do_no_harm()
    assert resident() < size + (32 << 20)
