"""`Zygote` and `Worker` against a peer that the test plays, byte by byte."""

from __future__ import annotations

import contextlib
import gc
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tests.fakes import frames
from tests.fakes.zygote import Stage

from codemode import _engine, engine
from codemode._engine import PROTOCOL, Leg, ProtocolError, Worker, WorkerDied, Zygote

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="workers need Linux")

LEG = Leg(
    deadline_ns=10,
    kill_ns=20,
    memory_limit=1 << 26,
    max_output=65536,
    output_used=5,
    max_snapshot=1 << 24,
    truncate_output=True,
)
LEG_ON_WIRE = [10, 20, 1 << 26, 65536, 5, 1 << 24, 1]


@pytest.fixture
def stage() -> Iterator[Stage]:
    with Stage() as stage:
        yield stage


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen([sys.executable, "-IS", "-c", "import signal; signal.pause()"])
    yield process
    process.kill()
    process.wait()


def read_frame(peer: socket.socket) -> tuple[int, frames.Reader]:
    head = peer.recv(5, socket.MSG_WAITALL)
    length, kind = struct.unpack("<IB", head)
    body = peer.recv(length - 1, socket.MSG_WAITALL) if length > 1 else b""
    return kind, frames.Reader(body)


def write(peer: socket.socket, data: bytes) -> None:
    with contextlib.suppress(BrokenPipeError):
        peer.sendall(data)


def open_fds() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def readable(fd: int) -> bool:
    return bool(select.select([fd], [], [], 20)[0])


def next_turn(worker: Worker) -> object:
    while (turn := worker.recv()) is None:
        assert readable(worker.fileno())
    return turn


def all_turns(worker: Worker) -> list[object]:
    turns: list[object] = []
    while (turn := worker.recv()) is not None:
        turns.append(turn)
    return turns


# --- the zygote's life


@pytest.mark.req("saf.1")
def test_a_zygote_starts_with_nothing_of_the_host(stage: Stage) -> None:
    seen = stage.seen
    assert seen["environment"] == ""
    assert seen["directory"] == "/"
    # What this process has itself inherited without mark is the binary's to close.
    assert all(os.get_inheritable(fd) for fd in seen["extra"])
    assert seen["streams"][:2] == ["/dev/null", "/dev/null"]
    assert seen["own_session"]


def test_a_zygote_starts_with_default_signals() -> None:
    old = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
    try:
        with Stage() as stage:
            status = dict(
                line.split(":\t", 1) for line in stage.seen["status"].splitlines() if ":\t" in line
            )
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, old)
    assert int(status["SigBlk"], 16) == 0


def test_a_missing_binary_is_an_os_error_with_its_path() -> None:
    before = open_fds()
    with pytest.raises(FileNotFoundError) as caught:
        Zygote("/nowhere/codemode-worker")
    assert caught.value.filename == "/nowhere/codemode-worker"
    assert open_fds() == before


def test_a_file_without_the_run_bit_is_a_permission_error(tmp_path: Path) -> None:
    binary = tmp_path / "worker"
    binary.write_bytes(b"")
    with pytest.raises(PermissionError):
        Zygote(str(binary))


def test_the_report_is_kept(stage: Stage) -> None:
    assert stage.zygote.report is None
    text = '{"template": "ü"}'.encode()
    stage.control.send(b"T" + struct.pack("<I", len(text)) + text)
    assert readable(stage.zygote.fileno())
    stage.zygote.poll()
    assert stage.zygote.report == '{"template": "ü"}'


def test_polling_without_replies_does_nothing(stage: Stage) -> None:
    stage.zygote.poll()
    assert stage.zygote.report is None


@pytest.mark.parametrize(
    ("order", "text"),
    [("exit 3", "exited with code 3"), ("kill", r"killed by signal 9 \(SIGKILL\)")],
)
def test_a_dead_zygote_says_how_it_ended(stage: Stage, order: str, text: str) -> None:
    stage.end(order)
    assert readable(stage.zygote.fileno())
    with pytest.raises(WorkerDied, match=text):
        stage.zygote.poll()
    with pytest.raises(WorkerDied, match=text):
        stage.zygote.fork()
    with pytest.raises(WorkerDied, match=text):
        stage.zygote.poll()


def test_a_fork_finds_a_dead_zygote(stage: Stage) -> None:
    stage.end("exit 0")
    with pytest.raises(WorkerDied, match="exited with code 0"):
        stage.zygote.fork()


def test_close_reaps_the_process_and_may_be_repeated(stage: Stage) -> None:
    pid = stage.zygote.pid
    stage.zygote.close()
    assert stage.zygote.fileno() == -1
    with pytest.raises(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)
    stage.zygote.close()
    with pytest.raises(WorkerDied, match="closed"):
        stage.zygote.fork()
    with pytest.raises(WorkerDied, match="closed"):
        stage.zygote.poll()


def test_a_dropped_zygote_is_killed_and_reaped(tmp_path: Path) -> None:
    script = tmp_path / "zygote"
    script.write_text(f"#!{sys.executable} -IS\nimport signal\nsignal.pause()\n")
    script.chmod(0o755)
    zygote = Zygote(str(script))
    pid = zygote.pid
    os.kill(pid, 0)
    del zygote
    with pytest.raises(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)


@pytest.mark.req("saf.5")
def test_what_a_zygote_says_before_its_end_is_told(stage: Stage) -> None:
    worker, peer = stage.worker()
    stage.control.send(b"E\0\0\0\0cannot map the arena: \xff" + b"x" * 9000)
    stage.end("exit 70")
    peer.close()
    with pytest.raises(
        WorkerDied, match="exited with code 70: cannot map the arena: \ufffdx"
    ) as told:
        stage.zygote.poll()
    assert len(str(told.value)) < 2100
    with pytest.raises(WorkerDied):
        worker.recv()


OTHER_GREETINGS = {
    "another protocol": b"H0.0.9-0123456789abcdef",
    "no protocol": b"H",
    "none at all": b"T\2\0\0\0{}",
}


@pytest.mark.req("saf.5")
@pytest.mark.parametrize("said", OTHER_GREETINGS.values(), ids=OTHER_GREETINGS.keys())
def test_a_worker_of_another_build_is_told_from_one_that_means_harm(said: bytes) -> None:
    text = "worker and extension are from different builds: reinstall codemode"
    with Stage(greet=False) as stage:
        worker, peer = stage.worker()
        stage.control.send(said)
        # What it says cannot be read, which is not its fault.
        peer.send(frames.frame(0x7F))
        with pytest.raises(WorkerDied, match=text):
            worker.recv()
        with pytest.raises(WorkerDied, match=text):
            stage.zygote.poll()
        with pytest.raises(WorkerDied, match=text):
            stage.zygote.fork()


@pytest.mark.req("saf.5")
def test_an_extension_of_another_build_is_told_by_the_worker() -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        shell = f"exec {engine.WORKER_PATH} 3<&0"
        process = subprocess.Popen(["/bin/sh", "-c", shell], stdin=theirs, env={})
        try:
            ours.settimeout(20)
            assert ours.recv(200) == b"H" + PROTOCOL.encode()
            assert ours.recv(1 << 17)[:1] == b"T"
            one, other = socket.socketpair()
            with one, other:
                socket.send_fds(ours, [b"F\0\0\0\7\0\0\0"], [other.fileno()])
            said = ours.recv(1 << 10)
            assert said[:5] == b"E\7\0\0\0"
            assert b"different builds: reinstall codemode" in said
        finally:
            process.kill()
            process.wait()


MALFORMED_REPLIES = {
    "second greeting": b"H" + PROTOCOL.encode(),
    "unknown": b"Z\0\0\0",
    "report longer than it says": b"T\1\0\0\0ab",
    "report shorter than it says": b"T\xff\xff\xff\xffab",
    "report that is not UTF-8": b"T\1\0\0\0\xff",
    "process id without descriptor": struct.pack("<4sIi", b"P", 1, 1),
    "short exit": b"X\0\0\0\1\0\0\0",
    "long exit": struct.pack("<4sIi", b"X", 1, 0) + b"\0",
    "exit with padding that is not zero": struct.pack("<4sIi", b"Xabc", 1, 0),
    "exit of a worker that nobody asked for": struct.pack("<4sIi", b"X", 9, 0),
    "failure of a worker that nobody asked for": b"E" + struct.pack("<I", 9) + b"text",
    "short failure": b"E\1",
    "too long": b"T" * (130 << 10),
}


@pytest.mark.hostile
@pytest.mark.req("saf.4")
@pytest.mark.parametrize("message", MALFORMED_REPLIES.values(), ids=MALFORMED_REPLIES.keys())
def test_a_malformed_reply_ends_the_zygotes_use(stage: Stage, message: bytes) -> None:
    worker, _peer = stage.worker()
    assert worker.serial == 1
    stage.control.send(message)
    with pytest.raises(ProtocolError):
        stage.zygote.poll()
    with pytest.raises(WorkerDied, match="given up"):
        stage.zygote.fork()


@pytest.mark.hostile
@pytest.mark.req("saf.4")
@pytest.mark.parametrize("count", [2, 5])
def test_surplus_descriptors_are_refused_and_closed(stage: Stage, count: int) -> None:
    worker, _peer = stage.worker()
    before = open_fds()
    with Path("/dev/null").open() as null:
        message = struct.pack("<4sIi", b"P", worker.serial, 1)
        socket.send_fds(stage.control, [message], [null.fileno()] * count)
    with pytest.raises(ProtocolError):
        stage.zygote.poll()
    assert open_fds() == before


@pytest.mark.hostile
def test_descriptors_on_other_replies_are_refused_and_closed(stage: Stage) -> None:
    before = open_fds()
    with Path("/dev/null").open() as null:
        socket.send_fds(stage.control, [b"T\0\0\0\0"], [null.fileno()])
    with pytest.raises(ProtocolError):
        stage.zygote.poll()
    assert open_fds() == before


def test_a_second_process_for_a_worker_is_refused(
    stage: Stage, sleeper: subprocess.Popen[bytes]
) -> None:
    worker, _peer = stage.worker()
    stage.forked(worker.serial, sleeper.pid)
    stage.zygote.poll()
    stage.forked(worker.serial, sleeper.pid)
    with pytest.raises(ProtocolError):
        stage.zygote.poll()


# --- forking


def test_a_worker_is_usable_before_the_zygote_has_answered(stage: Stage) -> None:
    worker = stage.zygote.fork()
    assert (worker.pid, worker.serial, worker.exit_status) == (None, 1, None)
    assert worker.suspend()
    _serial, peer = stage.asked()
    assert read_frame(peer)[0] == 4


def test_serials_ascend(stage: Stage) -> None:
    assert [stage.worker()[0].serial for _ in range(3)] == [1, 2, 3]


def test_the_workers_end_blocks_and_the_hosts_end_does_not(stage: Stage) -> None:
    worker, peer = stage.worker()
    assert not os.get_blocking(worker.fileno())
    assert not os.get_inheritable(worker.fileno())
    peer.settimeout(None)  # a timeout of Python's makes the descriptor non-blocking
    assert os.get_blocking(peer.fileno())


def test_the_process_id_comes_with_the_reply(
    stage: Stage, sleeper: subprocess.Popen[bytes]
) -> None:
    worker, _peer = stage.worker()
    stage.forked(worker.serial, sleeper.pid)
    stage.zygote.poll()
    assert worker.pid == sleeper.pid


def test_a_failed_fork_is_told_by_the_worker(stage: Stage) -> None:
    worker, peer = stage.worker()
    stage.control.send(b"E" + struct.pack("<I", worker.serial) + b"out of processes")
    peer.close()
    stage.zygote.poll()
    with pytest.raises(WorkerDied, match="out of processes"):
        worker.recv()


def test_the_exit_of_a_child_that_was_given_up_is_no_error(stage: Stage) -> None:
    worker, _peer = stage.worker()
    stage.control.send(b"E" + struct.pack("<I", worker.serial) + b"no pidfd")
    stage.exited(worker.serial, 0)
    stage.zygote.poll()
    with pytest.raises(WorkerDied, match="no pidfd"):
        worker.recv()
    assert stage.worker()[0].serial == 2


def test_a_busy_zygote_is_a_blocking_io_error_and_leaks_nothing(stage: Stage) -> None:
    before = open_fds()
    workers: list[Worker] = []

    def fork_many() -> None:
        while len(workers) < 100_000:
            workers.append(stage.zygote.fork())

    with pytest.raises(BlockingIOError):
        fork_many()
    assert open_fds() == before + len(workers)
    stage.asked()[1].close()
    workers.append(stage.zygote.fork())
    assert workers[-1].serial == workers[-2].serial + 1


# --- what the host says


def test_start_carries_all_its_fields(stage: Stage) -> None:
    worker, peer = stage.worker()
    assert worker.start(
        code="return '\ud800é'",
        typescript=True,
        allow_javascript=False,
        allow_typescript=True,
        globals=_engine.encode({"mcp": True}),
        leg=LEG,
    )
    kind, body = read_frame(peer)
    assert kind == 1
    assert body.leg() == LEG_ON_WIRE
    assert body.blob().decode() == "return '\ufffdé'"
    assert [body.byte() for _ in range(3)] == [1, 0, 1]
    assert _engine.decode(body.blob()) == {"mcp": True}
    assert body.done()


def test_resume_carries_all_its_fields(stage: Stage) -> None:
    worker, peer = stage.worker()
    value = _engine.encode("result")
    worker.resume(image=b"\0image", release_yields=True, settlements=[(3, True, value)], leg=LEG)
    kind, body = read_frame(peer)
    assert kind == 2
    assert body.leg() == LEG_ON_WIRE
    assert body.byte() == 1
    assert body.settlements() == [(3, 1, value)]
    assert body.blob() == b"\0image"
    assert body.done()


def test_settle_suspend_and_data_are_frames(stage: Stage) -> None:
    worker, peer = stage.worker()
    one, two = _engine.encode(1), _engine.encode({"message": "no"})
    worker.settle([(7, True, one), (2, False, two)])
    worker.settle([])
    worker.suspend()
    worker.data(two)
    kind, body = read_frame(peer)
    assert (kind, body.settlements(), body.done()) == (3, [(7, 1, one), (2, 0, two)], True)
    kind, body = read_frame(peer)
    assert (kind, body.settlements(), body.done()) == (3, [], True)
    kind, body = read_frame(peer)
    assert (kind, body.done()) == (4, True)
    kind, body = read_frame(peer)
    assert (kind, body.blob(), body.done()) == (5, two, True)


def test_what_the_socket_does_not_take_is_flushed_later(stage: Stage) -> None:
    worker, peer = stage.worker()
    data = os.urandom(3 << 20)
    assert worker.resume(image=data, release_yields=False, settlements=[], leg=LEG) is False
    assert worker.suspend() is False
    received = bytearray()
    while not worker.flush():
        received += peer.recv(1 << 16)
    while not received.endswith(b"\1\0\0\0\4"):
        received += peer.recv(1 << 16)
    assert data in received
    assert worker.flush() is True


def test_a_leg_shows_its_fields() -> None:
    assert (LEG.deadline_ns, LEG.kill_ns, LEG.truncate_output) == (10, 20, True)
    with pytest.raises(OverflowError):
        Leg(
            deadline_ns=-1,
            kill_ns=0,
            memory_limit=0,
            max_output=0,
            output_used=0,
            max_snapshot=0,
            truncate_output=False,
        )


# --- what the worker says


def test_a_suspended_turn_is_decoded(stage: Stage) -> None:
    worker, peer = stage.worker()
    calls: list[tuple[int, str, str, object]] = [(1, "call", "a:b:c", {"q": [2**70, 1.5]})]
    peer.send(
        frames.suspended(
            calls,
            [{"type": "text", "text": "hi"}],
            used=12,
            timer_ms=250,
            yielded="pause",
            main_settled=True,
        )
    )
    turn = worker.recv()
    assert isinstance(turn, _engine.Suspended)
    assert turn.requests == calls
    assert turn.output == [{"type": "text", "text": "hi"}]
    assert (turn.output_used, turn.timer_ms, turn.yielded) == (12, 250, "pause")
    assert turn.main_settled is True
    assert worker.recv() is None


def test_the_other_turns_are_decoded(stage: Stage) -> None:
    worker, peer = stage.worker()
    peer.send(frames.finished({"a": None}, [{"type": "json"}], ["w"]))
    peer.send(frames.failed("timeout", "time", "late", (3, 4)))
    peer.send(frames.image(b"\0\1", 4096))
    peer.send(frames.fetch(4, "mcp/index.d.ts"))
    done = worker.recv()
    assert isinstance(done, _engine.Finished)
    assert (done.value, done.output, done.warnings) == ({"a": None}, [{"type": "json"}], ["w"])
    assert done.output_used == 7
    lost = worker.recv()
    assert isinstance(lost, _engine.Failed)
    assert (lost.code, lost.limit, lost.message) == ("timeout", "time", "late")
    assert (lost.location, lost.output, lost.warnings) == ((3, 4), [], ["careful"])
    image = worker.recv()
    assert isinstance(image, _engine.Image)
    assert (image.bytes, image.uncompressed) == (b"\0\1", 4096)
    fetch = worker.recv()
    assert isinstance(fetch, _engine.Fetch)
    assert (fetch.kind, fetch.argument) == (4, "mcp/index.d.ts")
    assert worker.recv() is None


def test_a_turn_cannot_be_changed(stage: Stage) -> None:
    worker, peer = stage.worker()
    peer.send(frames.fetch(1, ""))
    fetch = worker.recv()
    with pytest.raises(AttributeError):
        fetch.kind = 2  # type: ignore[union-attr, misc]


def test_a_frame_may_come_byte_by_byte(stage: Stage) -> None:
    worker, peer = stage.worker()
    data = frames.finished({"text": "x" * 40}, [{"type": "text", "text": "y"}], ["z"])
    for byte in data[:-1]:
        peer.send(bytes([byte]))
        assert worker.recv() is None
    peer.send(data[-1:])
    assert isinstance(worker.recv(), _engine.Finished)


def test_frames_may_be_split_anywhere(stage: Stage) -> None:
    worker, peer = stage.worker()
    one, two = frames.finished(1), frames.suspended([(1, "call", "t", None)])
    data = one + two
    for cut in range(1, len(data)):
        peer.send(data[:cut])
        got = [worker.recv(), worker.recv()]
        peer.send(data[cut:])
        got += [worker.recv(), worker.recv()]
        kinds = [type(turn) for turn in got if turn is not None]
        assert kinds == [_engine.Finished, _engine.Suspended], cut
        assert worker.recv() is None


def test_a_large_frame_arrives_while_it_is_written(stage: Stage) -> None:
    worker, peer = stage.worker()
    data = os.urandom(20 << 20)
    writer = threading.Thread(target=peer.sendall, args=(frames.image(data, 1),))
    writer.start()
    turn = next_turn(worker)
    writer.join()
    assert isinstance(turn, _engine.Image)
    assert turn.bytes == data


@pytest.mark.req("snp.1")
def test_an_image_comes_in_parts_that_are_cut_anywhere(stage: Stage) -> None:
    worker, peer = stage.worker()
    parts = [b"", b"one", bytes(300_000), b"x" * 70_000]
    data = b"".join(map(frames.image_part, parts)) + frames.image(b"end", 9) + frames.fetch(1, "a")
    for cut in (0, 3, 4, 5, 9, 12, 17, 100_000, 300_020, 370_030, len(data) - 8):
        got = []
        for piece in (data[:cut], data[cut:]):
            writer = threading.Thread(target=peer.sendall, args=(piece,))
            writer.start()
            while writer.is_alive() or len(got) < 2 * (piece == data[cut:]):
                if (turn := worker.recv()) is not None:
                    got.append(turn)
            writer.join()
        image, question = got
        assert isinstance(image, _engine.Image)
        assert (image.bytes, image.uncompressed) == (b"".join(parts) + b"end", 9)
        assert isinstance(question, _engine.Fetch)


def test_an_image_that_was_begun_may_fail(stage: Stage) -> None:
    worker, peer = stage.worker()
    peer.send(frames.image_part(b"x") + frames.failed("snapshot_limit_exceeded", "snapshot", "m"))
    assert isinstance(next_turn(worker), _engine.Failed)
    peer.send(frames.image(b"whole", 1))
    image = next_turn(worker)
    assert isinstance(image, _engine.Image)
    assert image.bytes == b"whole"


# --- a worker that means harm


@pytest.mark.hostile
@pytest.mark.req("saf.4")
def test_an_announced_length_allocates_nothing(stage: Stage) -> None:
    worker, peer = stage.worker()
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    peer.send(struct.pack("<I", 60 << 20) + b"\x84")
    assert worker.recv() is None
    grown = int(Path("/proc/self/statm").read_text().split()[0]) - pages
    assert grown * os.sysconf("SC_PAGESIZE") < 8 << 20


@pytest.mark.hostile
@pytest.mark.req("saf.4")
@pytest.mark.parametrize("length", [0, (64 << 20) + 1, 2**32 - 1])
def test_a_wrong_length_is_refused_at_once(stage: Stage, length: int) -> None:
    worker, peer = stage.worker()
    peer.send(struct.pack("<I", length))
    with pytest.raises(ProtocolError):
        worker.recv()


@pytest.mark.req("saf.4")
def test_the_limit_of_a_frame_can_be_set(stage: Stage) -> None:
    worker, peer = stage.worker()
    assert worker.max_frame == 64 << 20
    worker.max_frame = 20
    peer.send(frames.frame(0x85, b"\1" + frames.blob("x" * 17)))
    assert isinstance(worker.recv(), _engine.Fetch)
    peer.send(frames.frame(0x85, b"\1" + frames.blob("x" * 18)))
    with pytest.raises(ProtocolError, match="21 bytes is over the limit of 20"):
        worker.recv()
    for wrong in (0, (320 << 20) + 1):
        with pytest.raises(ValueError, match="max_frame"):
            worker.max_frame = wrong


HOSTILE_FRAMES = {
    "unknown type": frames.frame(0x7F),
    "host's own type": frames.frame(4),
    "no body": frames.frame(0x81),
    "bytes after the frame": frames.frame(0x85, b"\1\0\0"),
    "unknown fetch": frames.frame(0x85, b"\x09\0"),
    "text that is not UTF-8": frames.frame(0x85, b"\1\1\xff"),
    "count of what is not there": frames.frame(0x81, b"\xff\xff\xff\xff"),
    "too many requests": frames.suspended([(i, "", "", None) for i in range(4097)]),
    "output that is not an object": frames.suspended([], ["text"]),
    "value with bytes after it": frames.frame(0x82, frames.blob(b"\0\0") + bytes(9)),
    "integer beyond doubles": frames.frame(
        0x82, frames.blob(b"\3" + frames.varint(2**60)) + bytes(9)
    ),
    "number that is not finite": frames.frame(
        0x82, frames.blob(b"\5" + struct.pack("<d", float("nan"))) + bytes(9)
    ),
    "big integer that is text": frames.frame(
        0x82, frames.blob(b"\4" + frames.blob("1x")) + bytes(9)
    ),
    "integer of a million digits": frames.frame(
        0x82, frames.blob(b"\4" + frames.blob("9" * 1_000_000)) + bytes(9)
    ),
    "image that does not end": frames.image_part(b"x") + frames.fetch(1, ""),
    "parts over the limit": frames.image_part(bytes(1 << 20)) * 65,
    "parts of nothing": frames.image_part(b"") * (1 << 20),
    "nested without end": frames.frame(0x82, frames.blob(b"\7\1\0\0\0" * 100_000) + bytes(9)),
}


@pytest.mark.hostile
@pytest.mark.req("saf.4")
@pytest.mark.parametrize("data", HOSTILE_FRAMES.values(), ids=HOSTILE_FRAMES.keys())
def test_a_hostile_frame_is_a_protocol_error(stage: Stage, data: bytes) -> None:
    worker, peer = stage.worker()
    writer = threading.Thread(target=write, args=(peer, data))
    writer.start()
    with pytest.raises(ProtocolError):
        next_turn(worker)
    peer.shutdown(socket.SHUT_RDWR)
    writer.join()


@pytest.fixture(scope="module")
def shared_stage() -> Iterator[Stage]:
    with Stage() as stage:
        yield stage


VALID = st.sampled_from(
    [
        frames.suspended([(1, "call", "t", {"a": [1, "b", None]})], [{"type": "text"}], timer_ms=3),
        frames.finished([{"k": 1.5}] * 3, [{}], ["w"]),
        frames.failed("timeout", "time", "m", (1, 2)),
        frames.image(b"abc", 3),
        frames.fetch(1, ""),
    ]
)


@pytest.mark.hostile
@pytest.mark.req("saf.4")
@settings(
    max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(valid=VALID, edits=st.lists(st.tuples(st.integers(4, 200), st.integers(0, 255)), max_size=4))
@example(valid=frames.fetch(1, ""), edits=[])
def test_a_mutated_frame_is_a_turn_or_a_protocol_error(
    shared_stage: Stage, valid: bytes, edits: list[tuple[int, int]]
) -> None:
    worker, peer = shared_stage.worker()
    data = bytearray(valid)
    for at, byte in edits:
        data[4 + (at - 4) % (len(data) - 4)] = byte
    peer.send(data)
    try:
        turn = worker.recv()
    except ProtocolError:
        assert edits
    else:
        assert turn is not None
    shared_stage.exited(worker.serial, 0)
    shared_stage.zygote.poll()
    peer.close()


@pytest.mark.hostile
@settings(
    max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.binary(min_size=1, max_size=200))
def test_random_bytes_never_do_harm(shared_stage: Stage, data: bytes) -> None:
    worker, peer = shared_stage.worker()
    peer.send(data)
    peer.close()
    with pytest.raises((ProtocolError, WorkerDied)):
        all_turns(worker)
    shared_stage.exited(worker.serial, 0)
    shared_stage.zygote.poll()


# --- ends


def test_an_end_between_frames_is_told_after_the_last_words(stage: Stage) -> None:
    worker, peer = stage.worker()
    peer.send(frames.finished(1) + frames.failed("timeout", "time", "m"))
    peer.close()
    assert worker.suspend() is True
    assert isinstance(worker.recv(), _engine.Finished)
    assert isinstance(worker.recv(), _engine.Failed)
    with pytest.raises(WorkerDied, match="closed its socket"):
        worker.recv()


def test_last_words_survive_unread_orders(stage: Stage) -> None:
    worker, peer = stage.worker()
    worker.suspend()
    peer.send(frames.finished(1))
    peer.close()
    assert isinstance(worker.recv(), _engine.Finished)
    with pytest.raises(WorkerDied):
        worker.recv()


def test_an_end_anywhere_in_a_frame_is_told(stage: Stage) -> None:
    data = frames.suspended([(1, "call", "t", None)])
    for cut in range(len(data)):
        worker, peer = stage.worker()
        peer.send(data[:cut])
        peer.close()
        with pytest.raises(WorkerDied):
            worker.recv()


def test_a_write_to_a_dead_worker_is_no_error(stage: Stage) -> None:
    worker, peer = stage.worker()
    data = bytes(3 << 20)
    assert worker.resume(image=data, release_yields=False, settlements=[], leg=LEG) is False
    peer.close()
    assert worker.flush() is True
    assert worker.settle([]) is True
    with pytest.raises(WorkerDied):
        worker.recv()


@pytest.mark.parametrize(
    ("status", "text"),
    [
        (31, r"the worker was killed by signal 31 \(SIGSYS\)"),
        (9, r"the worker was killed by signal 9 \(SIGKILL\)"),
        (3 << 8, "the worker exited with code 3"),
    ],
)
def test_a_dead_worker_says_how_it_ended(stage: Stage, status: int, text: str) -> None:
    worker, peer = stage.worker()
    stage.exited(worker.serial, status)
    peer.close()
    with pytest.raises(WorkerDied, match=text):
        worker.recv()
    assert worker.exit_status == status


def test_an_exit_status_that_comes_late_is_still_told(stage: Stage) -> None:
    worker, peer = stage.worker()
    peer.close()
    with pytest.raises(WorkerDied, match="closed its socket"):
        worker.recv()
    stage.exited(worker.serial, 31)
    stage.zygote.poll()
    assert worker.exit_status == 31
    with pytest.raises(WorkerDied, match="SIGSYS"):
        worker.recv()


def test_a_worker_outlives_its_zygote_object(
    stage: Stage, sleeper: subprocess.Popen[bytes]
) -> None:
    worker, peer = stage.worker()
    stage.forked(worker.serial, sleeper.pid)
    stage.zygote.poll()
    stage.zygote.close()
    peer.send(frames.finished(1))
    assert isinstance(worker.recv(), _engine.Finished)
    worker.kill()
    assert sleeper.wait(20) == -signal.SIGKILL


# --- forks of the host


def _let_go(*things: object) -> None:
    """Everything that a forked process may do to objects of its parent."""
    for thing in things:
        for name in ("poll", "fork", "recv", "suspend", "kill", "close"):
            with contextlib.suppress(AttributeError, WorkerDied):
                getattr(thing, name)()
                assert name in ("kill", "close"), name


@pytest.mark.req("saf.1")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
@pytest.mark.parametrize("how", ["dropped", "used"])
def test_a_forked_host_does_not_end_what_its_parent_uses(
    stage: Stage, sleeper: subprocess.Popen[bytes], how: str
) -> None:
    worker, peer = stage.worker()
    stage.forked(worker.serial, sleeper.pid)
    stage.zygote.poll()
    child = os.fork()
    if child == 0:
        status = 1
        with contextlib.suppress(BaseException):
            if how == "used":
                _let_go(worker, stage.zygote)
            del worker
            del stage.zygote
            gc.collect()
            status = 0
        os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert sleeper.poll() is None
    os.kill(stage.zygote.pid, 0)
    peer.send(frames.finished(1))
    assert isinstance(worker.recv(), _engine.Finished)
    assert worker.suspend() is True
    assert read_frame(peer)[0] == 4
    assert stage.worker()[0].serial == 2
    worker.kill()
    assert sleeper.wait(20) == -signal.SIGKILL


# --- killing


def drop(worker: list[Worker]) -> None:
    worker.clear()
    gc.collect()


def drop_on_another_thread(worker: list[Worker]) -> None:
    thread = threading.Thread(target=drop, args=(worker,))
    thread.start()
    thread.join()


ENDINGS: dict[str, Callable[[list[Worker]], None]] = {
    "kill": lambda w: w[0].kill(),
    "close": lambda w: w[0].close(),
    "drop": drop,
    "drop on another thread": drop_on_another_thread,
}


@pytest.mark.req("saf.2")
@pytest.mark.parametrize("end", ENDINGS.values(), ids=ENDINGS.keys())
@pytest.mark.parametrize("known", [True, False], ids=["known", "not yet known"])
def test_a_worker_is_killed(
    stage: Stage,
    sleeper: subprocess.Popen[bytes],
    end: Callable[[list[Worker]], None],
    known: bool,
) -> None:
    worker, peer = stage.worker()
    serial, holder = worker.serial, [worker]
    del worker
    if known:
        stage.forked(serial, sleeper.pid)
        stage.zygote.poll()
    end(holder)
    if not known:
        assert peer.recv(1) == b""
        assert sleeper.poll() is None
        stage.forked(serial, sleeper.pid)
        stage.zygote.poll()
    assert sleeper.wait(20) == -signal.SIGKILL


def test_a_killed_worker_says_so_and_keeps_its_descriptor(stage: Stage) -> None:
    worker, _peer = stage.worker()
    fd = worker.fileno()
    worker.kill()
    worker.kill()
    assert worker.fileno() == fd
    for use in (worker.recv, worker.flush, worker.suspend):
        with pytest.raises(WorkerDied, match="killed by the host"):
            use()
    worker.close()
    worker.close()
    assert worker.fileno() == -1
    with pytest.raises(WorkerDied, match="closed by the host"):
        worker.recv()
    worker.kill()
    assert worker.fileno() == -1


def test_a_worker_that_has_exited_is_not_killed_again(
    stage: Stage, sleeper: subprocess.Popen[bytes]
) -> None:
    worker, _peer = stage.worker()
    stage.forked(worker.serial, sleeper.pid)
    stage.exited(worker.serial, 0)
    stage.zygote.poll()
    worker.kill()
    assert worker.exit_status == 0
    assert sleeper.poll() is None


def test_no_descriptor_is_left_after_many_rounds(
    stage: Stage, sleeper: subprocess.Popen[bytes]
) -> None:
    def round_(n: int) -> None:
        worker, peer = stage.worker()
        if n % 3 == 0:
            stage.forked(worker.serial, os.getpid() if n < 0 else sleeper.pid)
        if n % 5 == 0:
            peer.send(frames.finished(n))
            assert isinstance(worker.recv(), _engine.Finished)
        stage.exited(worker.serial, 0)
        stage.zygote.poll()
        if n % 2:
            worker.close()
        peer.close()

    round_(0)
    gc.collect()
    before = open_fds()
    for n in range(500):
        round_(n)
    gc.collect()
    assert open_fds() == before


def test_no_descriptor_is_left_by_whole_zygotes() -> None:
    def round_() -> None:
        with Stage() as stage:
            worker, peer = stage.worker()
            peer.close()
            del worker

    round_()
    before = open_fds()
    for _ in range(5):
        round_()
    assert open_fds() == before
