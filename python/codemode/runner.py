"""One cell: from exec through any number of waits to its result (exe.10 to exe.15, wai)."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any, cast

from .calls import Calls, CallsRefused
from .executor import MAX_VALUE_BYTES
from .leg import HAND_OVER, MIN_TIMER_S, Budget, Leg
from .models import (
    ERROR_CODES,
    LIMITS,
    Completed,
    ErrorCode,
    Failed,
    Limit,
    Result,
    Waiting,
    WaitReason,
)
from .native import RuntimeUnavailable, engine
from .store import Store, StoreFull
from .worker import KERNEL_GRACE_NS, HostBroke, LiveWorker, WorkerBroke, WorkerLate

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from .catalog import CatalogView
    from .config import CodeModeConfig
    from .engine import Pool
    from .executor import Executor
    from .scope import Scope

_ZYGOTE_END_S = 0.02


class _Broken(Exception):
    """A worker did what no honest worker does."""


class Cell:
    """The state of one cell. One coroutine at a time drives it.

    Attributes:
        run_id: What `wait` takes.
        scope: Who owns it.
        owner: The run that began it.
    """

    def __init__(
        self,
        *,
        run_id: str,
        owner: object,
        scope: Scope,
        config: CodeModeConfig,
        view: CatalogView,
        executor: Executor,
        pool: Pool,
        store: Store,
        call_id: str,
        restart_safe: bool,
        telemetry: Callable[[], Mapping[str, Any]],
        fetch: Callable[[int, str], bytes],
        tasks: set[asyncio.Task[None]],
        on_end: Callable[[Cell], None] = lambda _: None,
        park_every_turn: bool = False,
    ) -> None:
        """Collaborators; `tasks` is where the run keeps track of running tools.

        `on_end` is called when the cell is over, whoever ended it.
        """
        self._on_end = on_end
        self.run_id = run_id
        self.owner = owner
        self.scope = scope
        self._config = config
        self._pool = pool
        self._store = store
        self._restart_safe = restart_safe
        self._telemetry = telemetry
        self._fetch = fetch
        self._park_every_turn = park_every_turn

        self._calls = Calls(
            executor=executor,
            view=view,
            call_id=call_id,
            restart_safe=restart_safe,
            limit=config.max_pending_tool_calls,
            tasks=tasks,
            on_ready=self._rouse,
        )
        self._wake: asyncio.Future[None] | None = None
        self._live: LiveWorker | None = None
        self._budget: Budget | None = None
        self._retried = False

        self._image: bytes | None = None
        self._image_size = 0
        self._timer_at: float | None = None
        self._yielded = False
        self._output: list[Mapping[str, Any]] = []
        self._output_used = 0
        self._warnings: list[str] = []
        self._over = False

    def _gone(self) -> bool:
        # A call, because others may end the cell during any await.
        return self._over

    # Entry points

    async def start(
        self, *, code: str, typescript: bool, globals_blob: bytes, warnings: list[str]
    ) -> Result:
        """Runs the program until it ends or has to wait.

        Args:
            code: What the model sent.
            typescript: The model asked for TypeScript.
            globals_blob: `globals` of the start frame.
            warnings: To be delivered with the result.
        """
        self._warnings = warnings
        budget = Budget(self._config)
        languages = self._config.languages

        def begin(live: LiveWorker) -> None:
            live.send(
                "start",
                code=code,
                typescript=typescript,
                allow_javascript="javascript" in languages,
                allow_typescript="typescript" in languages,
                globals=globals_blob,
                leg=self._leg(budget),
            )

        return await self._guard(self._run_leg(budget, begin))

    async def resume(self, pool: Pool) -> Result:
        """Waits until the cell can go on, restores it in a worker of `pool` and runs it further."""
        self._pool, self._calls.loop = pool, pool.loop
        return await self._guard(self._resume())

    async def _resume(self) -> Result:
        budget = Budget(self._config)
        if not self._yielded:
            await self._something_due(budget.deadline)
            if self._gone():
                return self._ended()
            due = self._calls.ready or self._timer_due()
            if not due or time.monotonic() >= budget.resume_until:
                return self._park("pending_tools")
        return await self._run_leg(budget, self._restoring(budget))

    async def _guard(self, driving: Any) -> Result:
        """Turns what can go wrong into a result; a cancelled driver ends the cell."""
        try:
            return cast("Result", await driving)
        except WorkerLate:
            if self._pool.report is None:
                # It never got to the program: the zygote has built no VM yet.
                return self._fail(
                    "runtime_unavailable", unavailable("it did not start before the deadline")
                )
            return self._timeout()
        except HostBroke:
            return self._fail(
                "internal_error", "The host could not answer the program; its log says why."
            )
        except RuntimeUnavailable as error:
            if self._gone():
                return self._ended()
            if self._budget is not None and time.monotonic() >= self._budget.deadline:
                return self._timeout()
            words = self._pool.last_words
            reason = str(error) if words in str(error) else f"{error}; {words}"
            return self._fail("runtime_unavailable", unavailable(reason))
        except (WorkerBroke, CallsRefused, _Broken) as error:
            return self._fail(
                "runtime_unavailable",
                f"The sandbox process gave an answer that was refused ({error}). "
                "The code may have run in part; a new exec gets a fresh sandbox.",
            )
        except asyncio.CancelledError:
            await self.abort()
            raise
        except BaseException:
            self.dispose()
            raise

    # One leg: one worker (or, parked at every turn, one after the other)

    async def _run_leg(self, budget: Budget, begin: Callable[[LiveWorker], None]) -> Result:
        self._budget = budget
        while True:
            live, end = await self._begin(budget, begin)
            try:
                if self._gone():
                    return self._ended()
                if not isinstance(end, str):
                    return self._conclude(live, end)
                if end != HAND_OVER:
                    try:
                        self._store.reserve(self, self._config.max_suspended_cells)
                    except StoreFull:
                        return self._too_many()
                failure = await self._take_image(live)
                if failure:
                    return self._fail_turn(failure)
                if end != HAND_OVER:
                    return self._park(cast("WaitReason", end))
            finally:
                self._live = None
                live.discard()
            begin = self._restoring(budget)

    def _tell_of_timer(self, reason: WaitReason) -> None:
        """Says what is pending where the list of pending calls is empty."""
        if reason == "pending_tools" and self._timer_at is not None and not self._calls:
            left = max(self._timer_at - time.monotonic(), 0)
            self._warnings.append(
                f"the program waits for no tool, only for a timer that is due in {left:.1f} s"
            )

    def _conclude(self, live: LiveWorker, turn: Any) -> Result:
        kind = type(turn).__name__
        if kind == "Failed":
            return self._fail_turn(turn)
        if kind != "Finished":
            raise _Broken("an image that nobody asked for")
        result = self._finish(turn)
        if turn.reusable:
            self._pool.give_back(self.owner, live)
        return result

    async def _begin(
        self, budget: Budget, begin: Callable[[LiveWorker], None]
    ) -> tuple[LiveWorker, Any]:
        """Gets a worker, has it begin, and gives it with what ends the leg (see `Leg.end`).

        In its first turn the program has reached nothing outside, so if the zygote was lost then
        (and all workers with it) the same turn is run again with a new one; also if a worker fails
        that had served an earlier cell.
        """
        while True:
            # Counted before: a loss that is noticed while a worker is chosen may be of that worker.
            lost = self._pool.lost
            live = self._live = await self._checkout(budget)
            leg = Leg(
                asyncio.get_running_loop(),
                live,
                self._calls,
                budget,
                take=self._take,
                timer_at=lambda: self._timer_at,
                hand_over=self._park_every_turn,
            )
            try:
                begin(live)
                return live, await leg.end()
            except (RuntimeUnavailable, WorkerBroke) as error:
                live.discard()
                if live.kept and not (leg.turns or self._gone()):
                    # What an earlier cell of this run may have left in it is none of this one's.
                    continue
                if leg.turns or isinstance(error, WorkerBroke):
                    raise
                if self._pool.lost == lost:
                    # The zygote's own end may show a moment after that of its workers.
                    await asyncio.sleep(_ZYGOTE_END_S)
                if self._gone() or self._pool.lost == lost or self._retried:
                    raise
                self._retried = True
            except BaseException:
                live.discard()
                raise

    async def _checkout(self, budget: Budget) -> LiveWorker:
        config = self._config
        # A wire value is at most thrice as long as its compact JSON.
        frame = 3 * config.max_output_bytes + _image_len(config) + MAX_VALUE_BYTES
        return await self._pool.take(
            self.owner,
            max_frame=min(frame, 320 << 20),
            max_output=config.max_output_bytes,
            fetch=self._fetch,
            deadline=budget.deadline,
        )

    def _leg(self, budget: Budget) -> Any:
        config = self._config
        return engine().Leg(
            deadline_ns=budget.deadline_ns,
            kill_ns=budget.deadline_ns + KERNEL_GRACE_NS,
            memory_limit=config.memory_limit_bytes,
            max_output=config.max_output_bytes,
            output_used=self._output_used,
            max_snapshot=config.max_snapshot_bytes,
            truncate_output=config.output_overflow == "truncate",
        )

    def _restoring(self, budget: Budget) -> Callable[[LiveWorker], None]:
        """What makes a worker go on from the image, with all that has ended meanwhile."""
        image, self._image = self._image, None
        released, self._yielded = self._yielded, False
        settlements = self._calls.drain()

        def begin(live: LiveWorker) -> None:
            live.send(
                "resume",
                image=image,
                release_yields=released,
                settlements=settlements,
                leg=self._leg(budget),
            )

        return begin

    async def _take_image(self, live: LiveWorker) -> Any:
        """Suspends the worker; gives the worker's failure if it could not."""
        try:
            turn = await live.suspend(self._config.max_snapshot_bytes)
        except WorkerLate:
            raise _Broken("no image in time") from None
        kind = type(turn).__name__
        if kind == "Failed":
            return turn
        if kind != "Image":
            raise _Broken("no image after a suspend")
        if len(turn.bytes) > _image_len(self._config):
            raise _Broken("a larger image than the limit of the cell allows")
        self._image = turn.bytes
        self._image_size = turn.uncompressed
        return None

    async def _something_due(self, until: float) -> None:
        """Returns when a call has ended, a timer is due, the cell is over, or at `until`."""
        loop = asyncio.get_running_loop()
        while not (self._calls.ready or self._gone() or self._timer_due()):
            now = time.monotonic()
            if now >= until:
                return
            due = until if self._timer_at is None else min(until, self._timer_at)
            wake = self._wake = loop.create_future()
            alarm = loop.call_later(max(due - now, MIN_TIMER_S), _wake_up, wake)
            try:
                await wake
            finally:
                self._wake = None
                alarm.cancel()

    def _timer_due(self) -> bool:
        return self._timer_at is not None and time.monotonic() >= self._timer_at

    # What the worker says

    def _take(self, turn: Any) -> WaitReason | None:
        """Takes the end of a turn; gives the reason if the cell has to be parked now."""
        self._output.extend(turn.output)
        self._output_used = turn.output_used
        delay = turn.timer_ms
        self._timer_at = (
            None if delay is None else time.monotonic() + max(delay / 1000, MIN_TIMER_S)
        )
        self._yielded = turn.yielded is not None
        self._calls.add(turn.requests, turn.request_sizes)
        if self._yielded:
            return "yield"
        if not (self._calls or self._timer_at is not None):
            raise _Broken("a cell that waits for nothing")
        return "pending_tools" if self._restart_safe else None

    def _rouse(self) -> None:
        if self._wake is not None and not self._wake.done():
            self._wake.set_result(None)

    # Results

    def _finish(self, turn: Any) -> Result:
        self._output.extend(turn.output)
        if self._calls:
            raise _Broken("a cell that ended before its calls")
        self._end()
        return Completed(
            value=turn.value,
            output=tuple(self._output),
            warnings=(*self._take_warnings(), *turn.warnings),
            telemetry=self._telemetry(),
        )

    def _park(self, reason: WaitReason) -> Result:
        self._tell_of_timer(reason)
        self._store.park(self, self._config.snapshot_ttl_seconds)
        output, self._output = tuple(self._output), []
        warnings = tuple(self._take_warnings())
        return Waiting(
            run_id=self.run_id,
            reason=reason,
            pending_tool_calls=self._calls.pending(),
            replay_safe=self._restart_safe,
            snapshot_bytes=len(self._image or b""),
            output=output,
            warnings=warnings,
            telemetry=self._telemetry(),
        )

    def _take_warnings(self) -> list[str]:
        taken = [*self._warnings, *self._calls.notes]
        self._warnings, self._calls.notes = [], []
        return taken

    def _fail_turn(self, turn: Any) -> Result:
        self._output.extend(turn.output)
        code = turn.code
        if code == "timeout":
            # The worker does not know what was configured.
            self._warnings.extend(turn.warnings)
            return self._timeout()
        if code not in ERROR_CODES or (turn.limit and turn.limit not in LIMITS):
            raise _Broken("a failure of no known kind")
        self._warnings.extend(turn.warnings)
        return self._fail(code, turn.message, limit=turn.limit or None, location=turn.location)

    def _fail(
        self,
        code: ErrorCode,
        message: str,
        *,
        limit: Limit | None = None,
        location: tuple[int, int] | None = None,
    ) -> Result:
        self._end()
        return Failed(
            error=message,
            code=code,
            limit=limit,
            location=location,
            tool_calls=self._calls.shown(),
            tool_call_count=self._calls.dispatched,
            output=tuple(self._output),
            warnings=tuple(self._take_warnings()),
            telemetry=self._telemetry(),
        )

    def _timeout(self) -> Result:
        return self._fail(
            "timeout",
            f"The code was still running at the deadline of {self._config.timeout_ms} ms and "
            "was stopped. Do less work in one exec; time spent in tools does not count.",
            limit="time",
        )

    def _too_many(self) -> Result:
        cap = self._config.max_suspended_cells
        return self._fail(
            "invalid_input",
            f"too many suspended code mode runs ({cap}). Finish other runs with wait first, "
            "or write the program so that it needs no wait.",
        )

    def _ended(self) -> Result:
        return self._fail("invalid_input", "code mode run was aborted by its owner.")

    # The end

    def _end(self) -> None:
        """Nothing of the cell goes on but the tools that run already; they are finished once."""
        self._over = True
        self._image = None
        self._calls.end()
        self._store.release(self)
        self._on_end(self)
        self._rouse()

    def dispose(self) -> None:
        """Ends the cell and cancels its tools."""
        self._end()
        if self._live is not None:
            self._live.abort()
        self._calls.cancel()

    async def abort(self) -> None:
        """Ends the cell, cancels its tools and waits for them, though not for ever."""
        self.dispose()
        await self._calls.join()


def _image_len(config: CodeModeConfig) -> int:
    # What does not compress grows a little, and there are a head and the numbers of the pages.
    return config.max_snapshot_bytes * 65 // 64 + (1 << 20)


def _wake_up(wake: asyncio.Future[None]) -> None:
    if not wake.done():
        wake.set_result(None)


def unavailable(reason: str) -> str:
    """The error text of `runtime_unavailable`."""
    return (
        f"The sandbox is not available: {reason}. "
        "Nothing else runs this code; tell the user if a new exec fails the same way."
    )
