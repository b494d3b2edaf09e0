"""The nested calls of one cell: queue, tasks, and what has ended (exe.12, exe.14)."""

from __future__ import annotations

import asyncio
import contextvars
import logging
import time
from collections import deque
from typing import TYPE_CHECKING, Any, cast

from .call import Call, GuestError
from .eager import start
from .models import DispatchedCall, PendingCall, PendingState

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from .catalog import CatalogView
    from .executor import Executor

_log = logging.getLogger("codemode")

MAX_OUTSTANDING = 4_096
# What the inputs of outstanding calls may take: encoded bytes, and some for each value in them. The
# guest is told at the same limit.
MAX_HELD_BYTES = 64 << 20
_SHOWN_CALLS = 32
_JOIN_S = 1.0


class CallsRefused(Exception):
    """A worker asked for something that no honest worker asks for."""


class Calls:
    """What a cell has called and not yet been told of.

    Attributes:
        ready: Settlements in the order in which the calls ended, `(number, ok, encoded value)`.
        notes: What the model should know of results, until a result takes it along.
        on_ready: Called whenever a call has ended.
        loop: Where calls run.
        dispatched: How many calls were started, searches not counted.
    """

    def __init__(
        self,
        *,
        executor: Executor,
        view: CatalogView,
        call_id: str,
        restart_safe: bool,
        limit: int,
        tasks: set[asyncio.Task[None]],
        on_ready: Callable[[], None],
    ) -> None:
        """Starts with none.

        Args:
            executor: Runs a call.
            view: The cell's view of the catalog.
            call_id: The outer exec.
            restart_safe: Only replay-safe tools may run.
            limit: Calls in flight at once.
            tasks: Where the run keeps track of what is running.
            on_ready: See the class.
        """
        self.ready: list[tuple[int, bool, bytes]] = []
        self.notes: list[str] = []
        self.dispatched = 0
        self.loop = asyncio.get_running_loop()
        self._executor = executor
        self._view = view
        self._call_id = call_id
        self._restart_safe = restart_safe
        self._limit = limit
        self._run_tasks = tasks
        self.on_ready = on_ready
        self._open: dict[int, Call] = {}
        self._held = 0
        self._queue: deque[Call] = deque()
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._in_flight = 0
        self._last_number = -1
        self._shown: deque[Call] = deque(maxlen=_SHOWN_CALLS)
        self._over = False
        self._dispatching = False
        self._soon = False
        # No tool sees what another one has set.
        self._context = contextvars.copy_context()

    def __bool__(self) -> bool:
        """Whether something is outstanding."""
        return bool(self._open or self.ready)

    @property
    def are_running(self) -> bool:
        """Whether any has not ended."""
        return bool(self._open)

    def add(self, requests: Iterable[tuple[int, str, str, Any]], sizes: Iterable[int]) -> None:
        """Takes what the guest asked for, and starts as much of it as may run.

        Args:
            requests: `(number, op, target, input)`, hostile input.
            sizes: What each takes of `MAX_HELD_BYTES`.

        Raises:
            CallsRefused: Numbers that do not ascend, an unknown operation, too many calls.
        """
        ops = self._executor.ops
        for (number, op, target, value), size in zip(requests, sizes, strict=True):
            if number <= self._last_number:
                raise CallsRefused("call ids out of order")
            self._last_number = number
            if op not in ops:
                raise CallsRefused("an operation that does not exist")
            self._held += size
            if len(self._open) >= MAX_OUTSTANDING or self._held > MAX_HELD_BYTES:
                raise CallsRefused("too many calls")
            call = Call(
                number,
                op,
                target,
                value,
                parent_call_id=self._call_id,
                replay_safe_only=self._restart_safe,
                size=size,
            )
            self._open[number] = call
            self._queue.append(call)
        self._dispatch()

    def drain(self) -> list[tuple[int, bool, bytes]]:
        """Takes the settlements."""
        ready, self.ready = self.ready, []
        return ready

    def pending(self) -> tuple[PendingCall, ...]:
        """What has not ended, in call order."""
        now = time.monotonic()
        return tuple(
            PendingCall(
                call_id=call.call_id,
                tool=call.tool,
                state=cast("PendingState", call.state),
                elapsed_ms=int((now - call.created) * 1000),
            )
            for call in self._open.values()
        )

    def shown(self) -> tuple[DispatchedCall, ...]:
        """The newest calls that were started, and what became of them."""
        return tuple(
            DispatchedCall(tool=call.tool, status=cast("Any", call.status)) for call in self._shown
        )

    def end(self) -> None:
        """Starts nothing more; what runs already is finished once, and nobody is told."""
        self._over = True
        self.ready = []
        for call in self._queue:
            self._close(call)
        self._queue.clear()

    def cancel(self) -> None:
        """Ends, and cancels what runs."""
        self.end()
        for call in self._open.values():
            # Also the one that is in its first step, which has no task yet.
            call.abort()
        for task in list(self._tasks.values()):
            task.cancel()

    async def join(self) -> None:
        """Waits for what runs, though not for ever."""
        running = list(self._tasks.values())
        if running:
            await asyncio.wait(running, timeout=_JOIN_S)

    def _settle_lost(self, call: Call, what: str = "was cancelled") -> None:
        value = self._executor.encode_error(GuestError(f"{call.tool} {what}."))
        self.ready.append((call.number, False, value))
        self.loop.call_soon(self._on_lost)

    def _not_begun(self, call: Call) -> None:
        if call.state == "done":
            # It had begun, and has settled when it was closed.
            return
        call.state, call.status = "done", "error"
        self._close(call)
        self._in_flight -= 1
        if not self._over:
            self._settle_lost(call, "was not run")

    def _on_lost(self) -> None:
        self._dispatch()
        self.on_ready()

    def _close(self, call: Call) -> None:
        if self._open.pop(call.number, None) is not None:
            self._held -= call.size

    def _dispatch(self) -> None:
        """Starts what may run, and lets the loop have its turn after as many as may run at once."""
        if self._dispatching:
            # A call that ended in its first step; the loop below goes on.
            return
        self._dispatching = True
        try:
            for _ in range(self._limit):
                if not self._queue or self._in_flight >= self._limit:
                    return
                self._start(self._queue.popleft())
        finally:
            self._dispatching = False
        if self._queue and self._in_flight < self._limit and not self._soon:
            self._soon = True
            self.loop.call_soon(self._on_soon)

    def _on_soon(self) -> None:
        self._soon = False
        self._dispatch()

    def _start(self, call: Call) -> None:
        call.state = "running"
        self._in_flight += 1
        if call.op not in ("search", "describe"):
            self._shown.append(call)
            self.dispatched += 1
        serving = self._serve(call)
        try:
            task = self._context.copy().run(start, self.loop, serving)
        except Exception:  # noqa: BLE001 -- logged; a task factory of the host's loop has raised
            _log.exception("codemode: there is no task for %s", call.op)
            serving.close()
            self._not_begun(call)
            return
        if task.done():
            return
        self._tasks[call.number] = task
        self._run_tasks.add(task)
        task.add_done_callback(self._run_tasks.discard)
        if call.aborted:
            # The tool itself has ended the cell.
            task.cancel()

    async def _serve(self, call: Call) -> None:
        try:
            value = await self._executor.run(call, self._view)
            call.status = "ok"
        except GuestError as error:
            value = self._executor.encode_error(error)
            call.status = "error"
        except Exception:  # noqa: BLE001 -- logged; see below
            # A defect of ours or of an extension; the guest must not wait for ever.
            _log.exception("codemode: %s failed inside the host", call.op)
            value = self._executor.encode_error(GuestError(f"{call.tool} failed."))
            call.status = "error"
        except BaseException as error:
            call.status = "error"
            if not self._over and not self.loop.is_closed():
                # Whatever becomes of the host, the guest must not wait for ever.
                self._settle_lost(call)
            if isinstance(error, asyncio.CancelledError) and not call.aborted:
                return
            raise
        finally:
            call.state = "done"
            # The call may be shown later; what it carried is not.
            call.arguments = None
            self._tasks.pop(call.number, None)
            self._close(call)
            self._in_flight -= 1
        if call.notes:
            self.notes.extend(note for note in call.notes if note not in self.notes)
        if not self._over:
            self.ready.append((call.number, call.status == "ok", value))
            self._dispatch()
            self.on_ready()
