"""One worker process during one leg of a cell: frames out, turns in, and its clock.

Everything happens on the loop's thread and nothing here blocks.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .native import RuntimeUnavailable, engine

if TYPE_CHECKING:
    import asyncio

# The worker's own interrupt comes at the deadline, ours this much later, the kernel's last.
GRACE_S = 0.030
KERNEL_GRACE_NS = 60_000_000
# For taking an image: no guest code runs meanwhile, but a busy machine may be slow, and a worker
# that means harm must not be silent for longer.
IMAGE_S = 0.2
# Longer for images larger than that, bytes and bytes per second.
IMAGE_USUAL = 16 << 20
IMAGE_RATE = 200e6

_log = logging.getLogger("codemode")

# Frames taken per callback, so that a worker that floods us cannot hold the loop.
_BURST = 16

Fetch = Callable[[int, str], bytes]


class WorkerLate(Exception):
    """The worker gave no answer by its deadline and was killed."""


class HostBroke(Exception):
    """The host has no answer to a question of the worker; the worker was killed."""


class WorkerBroke(Exception):
    """The worker said something that the protocol never says and was killed."""


def _nobody(_: Any) -> None:
    """Hears of it where nobody listens yet."""


class LiveWorker:
    """One worker during one leg. Use: `listen`, then `send`; `discard` last."""

    __slots__ = (
        "_alarm",
        "_asked",
        "_deadline",
        "_died",
        "_error",
        "_fd",
        "_fetch",
        "_fetch_type",
        "_loop",
        "_on_fail",
        "_on_turn",
        "_worker",
        "_writing",
        "generation",
        "kept",
    )

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        worker: Any,
        *,
        max_frame: int,
        max_output: int,
        fetch: Fetch,
        deadline: float,
    ) -> None:
        """Takes over `worker`.

        Args:
            loop: The running loop.
            worker: An `_engine.Worker`.
            max_frame: Largest frame to accept, bytes.
            max_output: Limit of the cell's output, bytes of JSON.
            fetch: Answers questions in the middle of a turn with one encoded value.
            deadline: `loop.time()` of the end of the guest's time.
        """
        self._loop = loop
        self._worker: Any = worker
        self._fetch = fetch
        self._on_turn: Callable[[Any], None] = _nobody
        self._on_fail: Callable[[Exception], None] = _nobody
        # Whether the worker owes us the end of a turn.
        self._asked = False
        self._error: Exception | None = None
        self._writing = False
        # Which zygote it came from, counted by those that were lost before.
        self.generation = 0
        # It has served another cell before.
        self.kept = False
        module = engine()
        self._died = module.WorkerDied
        self._fetch_type = module.Fetch
        worker.max_frame = max_frame
        worker.limit_output(max_output)
        self._fd = worker.fileno()
        loop.add_reader(self._fd, self._on_readable)
        self._deadline = deadline
        self._alarm = loop.call_at(deadline + GRACE_S, self._on_late)

    def listen(self, on_turn: Callable[[Any], None], on_fail: Callable[[Exception], None]) -> None:
        """Says who hears of the worker from now on.

        Args:
            on_turn: Gets the end of each turn: Suspended, Finished, Failed or Image.
            on_fail: Gets what ended the worker, once: `WorkerLate` (no answer by its deadline
                and some grace), `RuntimeUnavailable` (the process is gone), `WorkerBroke` (it
                broke the protocol), `HostBroke`.
        """
        self._on_turn, self._on_fail = on_turn, on_fail
        if self._error is not None:
            self._loop.call_soon(on_fail, self._error)

    def send(self, method: str, *args: Any, **kwargs: Any) -> None:
        """Calls a sending method of the worker: start, resume, settle, suspend or data.

        Raises:
            RuntimeUnavailable: The worker is gone.
            ValueError: What is sent exceeds the largest frame.
        """
        self._asked = True
        try:
            written = getattr(self._worker, method)(*args, **kwargs)
        except (OSError, self._died) as error:
            # The reader finds the end of the stream and with it the exit status.
            if self._fd < 0:
                raise (self._error or RuntimeUnavailable(str(error))) from None
            return
        if not written and not self._writing:
            self._writing = True
            self._loop.add_writer(self._fd, self._on_writable)

    async def suspend(self, most: int) -> Any:
        """Asks for the image, which may come a little after the deadline.

        Args:
            most: Bytes that it may have before compression.

        Returns:
            Image or Failed.

        Raises:
            WorkerLate, RuntimeUnavailable, WorkerBroke: See `listen`.
        """
        if self._error is not None:
            raise self._error
        image: asyncio.Future[Any] = self._loop.create_future()
        self.listen(
            lambda turn: None if image.done() else image.set_result(turn),
            lambda error: None if image.done() else image.set_exception(error),
        )
        self._alarm.cancel()
        allowed = IMAGE_S + max(0, most - IMAGE_USUAL) / IMAGE_RATE
        until = max(self._deadline, self._loop.time()) + allowed
        self._alarm = self._loop.call_at(until, self._on_late)
        self.send("suspend")
        return await image

    def abort(self) -> None:
        """Kills the worker; who listens gets `RuntimeUnavailable`."""
        self._fail(RuntimeUnavailable("the worker was stopped"))

    def release(self) -> Any:
        """Lets go of the worker without killing it: for another cell of the same run.

        Returns:
            The worker, or None if it cannot be used again.
        """
        if self._error is not None or self._writing or self._fd < 0:
            return None
        worker, self._worker = self._worker, None
        self.discard()
        return worker

    def discard(self) -> None:
        """Kills the worker and lets go of everything; may be called again."""
        self._alarm.cancel()
        self._detach()
        # Who listens holds us.
        self._on_turn = self._on_fail = _nobody
        if self._worker is not None:
            self._worker.close()

    def _detach(self) -> None:
        if self._fd >= 0:
            self._loop.remove_reader(self._fd)
            if self._writing:
                self._loop.remove_writer(self._fd)
            self._fd = -1

    def _fail(self, error: Exception) -> None:
        if self._error is None:
            self._error = error
            self._detach()
            self._worker.kill()
            self._on_fail(error)

    def _on_late(self) -> None:
        # One that waits for the host, which a tool may have held up, is not late.
        if self._asked:
            self._fail(WorkerLate())

    def _on_writable(self) -> None:
        try:
            done = self._worker.flush()
        except (OSError, self._died):
            done = True
        if done:
            self._writing = False
            self._loop.remove_writer(self._fd)

    def _on_readable(self) -> None:
        for _ in range(_BURST):
            try:
                message = self._worker.recv()
            except self._died as error:
                return self._fail(RuntimeUnavailable(str(error)))
            except Exception as error:  # noqa: BLE001 -- whatever it is, the worker is at fault
                return self._fail(WorkerBroke(str(error)))
            if message is None:
                return None
            if not self._asked:
                return self._fail(WorkerBroke("a frame that nobody asked for"))
            if type(message) is not self._fetch_type:
                # The last frame until we send something, which may be at once.
                self._asked = False
                return self._on_turn(message)
            # A worker reads the answer before it asks again, so no answers pile up here.
            if self._writing:
                return self._fail(WorkerBroke("a question before the last answer was read"))
            try:
                answer = self._fetch(message.kind, message.argument)
            except Exception:  # noqa: BLE001 -- logged; ends the worker, not the loop
                _log.exception("codemode: no answer to question %s", message.kind)
                return self._fail(HostBroke())
            self.send("data", answer)
        return None
