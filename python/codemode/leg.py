"""One leg of a cell: one worker, turn after turn, until the cell ends or has to be parked.

Written as callbacks, not as a coroutine: between a nested call and its settlement the event loop
then has nothing to do but to run the tool.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from .worker import HostBroke

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

    from .calls import Calls
    from .config import CodeModeConfig
    from .models import WaitReason
    from .worker import LiveWorker

# A timer that is due at once would otherwise make host and worker spin.
MIN_TIMER_S = 0.001

_SHOWN_REASON = 500

# The guest could go on, in another process.
HAND_OVER = "hand_over"


class Budget:
    """The clock of one exec or wait (exe.10). Times are `time.monotonic()` seconds."""

    __slots__ = ("deadline", "deadline_ns", "park_at", "resume_until")

    def __init__(self, config: CodeModeConfig) -> None:
        """Starts now."""
        total = config.timeout_ms / 1000
        self.deadline_ns = time.monotonic_ns() + config.timeout_ms * 1_000_000
        self.deadline = self.deadline_ns / 1e9
        margin = min(0.250, total / 2)
        # Results that come later than this wait for the next leg.
        self.resume_until = self.deadline - margin
        # The image has to be taken before the kernel's timer fires; large ones take longer.
        reserve = 0.020 + config.max_snapshot_bytes / 500e6
        self.park_at = self.deadline - min(margin, reserve)


class Leg:
    """Drives one worker from its first turn to the end of the leg.

    Attributes:
        turns: How many turns have ended.
    """

    __slots__ = (
        "_alarm",
        "_alarm_at",
        "_budget",
        "_calls",
        "_end",
        "_hand_over",
        "_idle",
        "_live",
        "_loop",
        "_outside",
        "_soon",
        "_take",
        "_timer_at",
        "turns",
    )

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        live: LiveWorker,
        calls: Calls,
        budget: Budget,
        *,
        take: Callable[[Any], WaitReason | None],
        timer_at: Callable[[], float | None],
        hand_over: bool,
    ) -> None:
        """Listens to `live`, which has been sent nothing yet.

        Args:
            loop: The running loop.
            live: The worker.
            calls: What settles the guest's calls.
            budget: The leg's clock.
            take: Takes what the guest says at the end of a turn; gives a reason to park at once.
            timer_at: When the guest's next timer is due.
            hand_over: End the leg whenever the guest could go on.
        """
        self.turns = 0
        self._loop = loop
        self._live = live
        self._calls = calls
        self._budget = budget
        self._take = take
        self._timer_at = timer_at
        self._hand_over = hand_over
        self._idle = False
        self._soon = False
        self._alarm: asyncio.TimerHandle | None = None
        self._alarm_at = 0.0
        self._end: asyncio.Future[Any] = loop.create_future()
        # Nobody awaits it if the worker is lost before it was sent anything.
        self._end.add_done_callback(_seen)
        live.listen(self._on_turn, self._on_fail)
        # Who hears of it while no leg is driven.
        self._outside = calls.on_ready
        calls.on_ready = self._on_ready

    async def end(self) -> Any:
        """Waits for the end of the leg.

        Returns:
            `Finished`, `Failed` or another frame that ends a turn; or a reason to park the
            cell, whose worker is idle then; or `HAND_OVER`.

        Raises:
            WorkerLate, RuntimeUnavailable, WorkerBroke, HostBroke: See `LiveWorker`.
            Exception: What `take` raised.
        """
        try:
            return await self._end
        finally:
            self._idle = False
            self._calls.on_ready = self._outside
            if self._alarm is not None:
                self._alarm.cancel()

    def _on_turn(self, turn: Any) -> None:
        self.turns += 1
        if type(turn).__name__ != "Suspended":
            self._finish(turn)
            return
        try:
            reason = self._take(turn)
        except Exception as error:  # noqa: BLE001 -- raised where the leg is awaited
            self._on_fail(error)
            return
        except BaseException:
            # Goes to the host; the cell must not wait for what will not come.
            self._on_fail(HostBroke())
            raise
        if turn.yielded:
            self._calls.notes.append(f"the program paused itself: {turn.yielded[:_SHOWN_REASON]}")
        if reason is not None:
            self._finish(reason)
        elif not self._end.done():
            # A tool that ran meanwhile may have ended the cell.
            self._idle = True
            self._go_on()

    def _on_fail(self, error: Exception) -> None:
        self._idle = False
        if not self._end.done():
            self._end.set_exception(error)

    def _finish(self, end: Any) -> None:
        self._idle = False
        if not self._end.done():
            self._end.set_result(end)

    def _on_ready(self) -> None:
        """A call has ended. Others that end in the same turn of the loop go with it."""
        if not self._idle:
            return
        if not self._calls.are_running:
            self._go_on()
        elif not self._soon:
            self._soon = True
            self._loop.call_soon(self._on_soon)

    def _on_soon(self) -> None:
        self._soon = False
        self._go_on()

    def _on_alarm(self) -> None:
        self._alarm = None
        self._go_on()

    def _go_on(self) -> None:
        """Lets the guest go on, or sees to it that it will."""
        if not self._idle:
            return
        now = time.monotonic()
        timer = self._timer_at()
        due = bool(self._calls.ready) or (timer is not None and now >= timer)
        if due and now < self._budget.resume_until:
            if self._hand_over:
                self._finish(HAND_OVER)
                return
            self._idle = False
            try:
                self._live.send("settle", self._calls.drain())
            except Exception as error:  # noqa: BLE001 -- raised where the leg is awaited
                self._on_fail(error)
            return
        park_at = self._budget.park_at
        if due or now >= park_at:
            self._finish("pending_tools")
        else:
            self._wake_at(park_at if timer is None else min(park_at, timer), now)

    def _wake_at(self, at: float, now: float) -> None:
        if self._alarm is not None:
            if self._alarm_at <= at:
                return
            self._alarm.cancel()
        self._alarm_at = at
        self._alarm = self._loop.call_later(max(at - now, MIN_TIMER_S), self._on_alarm)


def _seen(end: asyncio.Future[Any]) -> None:
    if not end.cancelled():
        end.exception()
