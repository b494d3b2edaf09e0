"""The processes of one event loop: a zygote and the workers that it forks (saf.5).

Everything happens on the loop's thread and nothing here blocks. A worker serves one leg of one
cell and is killed afterwards.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import weakref
from typing import Any

from .native import RuntimeUnavailable
from .native import engine as native
from .worker import Fetch, LiveWorker

# pathlib is slow to import.
WORKER_PATH = os.path.join(os.path.dirname(__file__), "bin", "codemode-worker")  # noqa: PTH118, PTH120

_READY = 2
# Runs for which a worker is kept between cells.
_KEPT = 4
_BUSY_S = 0.0005
# A fork made at once would take the processor from the program that has just begun.
_REFILL_S = 0.002


class Pool:
    """Zygote and ready workers of one loop. Made by `lease`."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        """Starts nothing yet."""
        self.loop = loop
        self.leases = 0
        self._zygote: Any = None
        self._zygote_fd = -1
        self._ready: list[Any] = []
        # Workers whose last cell ended well, for further cells of the same run, oldest first.
        # Weak: a run that was dropped without `close` takes its worker along.
        self._kept: weakref.WeakKeyDictionary[object, Any] = weakref.WeakKeyDictionary()
        self._last_words = ""
        self._refill_due = False
        self._lost = 0

    async def take(
        self, owner: object, *, max_frame: int, max_output: int, fetch: Fetch, deadline: float
    ) -> LiveWorker:
        """A worker with a fresh VM, normally at once; it never served anyone but `owner`.

        The other arguments are those of `LiveWorker`.

        Raises:
            RuntimeUnavailable: The reason: platform, missing binary, confinement, …
        """
        worker = self._take_kept(owner)
        kept = worker is not None
        worker = worker or self._take_ready()
        while worker is None:
            try:
                worker = self._fork()
            except BlockingIOError:  # noqa: PERF203 -- a wait, not a hot loop
                # The zygote's socket holds only some ten requests.
                if self.loop.time() >= deadline:
                    raise RuntimeUnavailable("the zygote is overloaded") from None
                await asyncio.sleep(_BUSY_S)
        if not self._refill_due:
            self._refill_due = True
            self.loop.call_later(_REFILL_S, self._refill)
        live = LiveWorker(
            self.loop,
            worker,
            max_frame=max_frame,
            max_output=max_output,
            fetch=fetch,
            deadline=deadline,
        )
        live.generation = self._lost
        live.kept = kept
        return live

    def give_back(self, owner: object, live: LiveWorker) -> None:
        """Keeps a worker whose cell ended well for the next cell of `owner`."""
        # A worker of a zygote that is gone is about to die with it.
        worker = live.release() if live.generation == self.lost else None
        if worker is None:
            live.discard()
            return
        self.let_go(owner)
        self._kept[owner] = worker
        if len(self._kept) > _KEPT:
            self.let_go(next(iter(self._kept.keys())))

    def let_go(self, owner: object) -> None:
        """Ends the worker that is kept for `owner`, if there is one."""
        worker = self._kept.pop(owner, None)
        if worker is not None:
            worker.close()

    def warm(self) -> None:
        """Starts the zygote and the first workers.

        Raises:
            RuntimeUnavailable: As in `take`.
        """
        while len(self._ready) < _READY:
            self._ready.append(self._fork())

    async def ready(self) -> str:
        """Waits until the zygote has built its VM, and gives its report (JSON).

        Raises:
            RuntimeUnavailable: It cannot be started, or has ended.
        """
        if self._zygote is None:
            self.warm()
        while True:
            report = self.report
            if report is not None:
                return report
            if self._zygote is None:
                raise RuntimeUnavailable(f"the zygote has ended: {self._last_words}")
            await asyncio.sleep(_BUSY_S)

    @property
    def report(self) -> str | None:
        """What the zygote says of its template and confinement (JSON), once it has."""
        if self._zygote is None:
            return None
        self._poll()
        return self._zygote.report if self._zygote is not None else None

    @property
    def lost(self) -> int:
        """How many zygotes have ended by themselves so far, and their workers with them."""
        self._poll()
        return self._lost

    @property
    def last_words(self) -> str:
        """Why the latest zygote ended, if it ended by itself."""
        self._poll()
        return self._last_words

    def close(self) -> None:
        """Ends all processes."""
        self._drop_zygote()

    def _take_kept(self, owner: object) -> Any:
        worker = self._kept.pop(owner, None)
        return worker if worker is not None and _is_alive(worker) else None

    def _take_ready(self) -> Any:
        while self._ready:
            worker = self._ready.pop()
            if _is_alive(worker):
                return worker
        return None

    def _fork(self) -> Any:
        engine = native()
        for attempt in (1, 2):
            if self._zygote is None:
                self._start(engine)
            try:
                return self._zygote.fork()
            except BlockingIOError:
                raise
            except (OSError, engine.WorkerDied, engine.ProtocolError) as error:
                self._lose(error)
                if attempt == 2:
                    raise RuntimeUnavailable(f"no worker could be started: {error}") from None
        raise AssertionError

    def _start(self, engine: Any) -> None:
        if not sys.platform.startswith("linux"):
            raise RuntimeUnavailable(
                f"workers can only be confined on Linux; this is {sys.platform}"
            )
        try:
            self._zygote = engine.Zygote(WORKER_PATH)
        except OSError as error:
            raise RuntimeUnavailable(str(error)) from None
        self._zygote_fd = self._zygote.fileno()
        self.loop.add_reader(self._zygote_fd, self._poll)

    def _poll(self) -> None:
        if self._zygote is None:
            return
        try:
            self._zygote.poll()
        except Exception as error:  # noqa: BLE001 -- whatever it is, a new zygote is needed
            self._lose(error)

    def _lose(self, error: Exception) -> None:
        self._last_words = str(error)
        self._lost += 1
        self._drop_zygote()

    def _drop_zygote(self) -> None:
        ready, self._ready = [*self._ready, *self._kept.values()], []
        self._kept.clear()
        for worker in ready:
            worker.close()
        zygote, self._zygote = self._zygote, None
        if zygote is not None:
            if not self.loop.is_closed():
                self.loop.remove_reader(self._zygote_fd)
            zygote.close()

    def _refill(self) -> None:
        self._refill_due = False
        if self.leases and self._zygote is not None:
            # The next `take` tells whoever needs a worker.
            with contextlib.suppress(RuntimeUnavailable, BlockingIOError):
                self.warm()


class Lease:
    """A share in a loop's pool; the last one to let go closes it."""

    def __init__(self, pool: Pool) -> None:
        """Use `lease`."""
        self.pool = pool
        self._pid = os.getpid()
        self._held = True
        pool.leases += 1

    @property
    def is_foreign(self) -> bool:
        """Whether it was taken in another process, of which this one is a fork."""
        return os.getpid() != self._pid

    def release(self) -> None:
        """Gives the share back; may be called again, and from another thread."""
        if not self._held or self.is_foreign:
            return
        self._held = False
        self.pool.leases -= 1
        if self.pool.leases == 0:
            _POOLS.pop(id(self.pool.loop), None)
            try:
                running = asyncio.get_running_loop()
            except RuntimeError:
                running = None
            if running is not self.pool.loop and self.pool.loop.is_running():
                self.pool.loop.call_soon_threadsafe(self.pool.close)
            else:
                self.pool.close()

    def __del__(self) -> None:
        """A `CodeMode` that was dropped without `close` leaves no process."""
        with contextlib.suppress(Exception):
            self.release()


_POOLS: dict[int, Pool] = {}
_FOREIGN: list[Pool] = []


def lease() -> Lease:
    """A share in the pool of the running loop, which is made if there is none."""
    loop = asyncio.get_running_loop()
    for key, pool in list(_POOLS.items()):
        if pool.loop.is_closed():
            del _POOLS[key]
            pool.close()
    pool = _POOLS.get(id(loop)) or _POOLS.setdefault(id(loop), Pool(loop))
    return Lease(pool)


def _after_fork() -> None:
    # The parent's processes are not ours to use or to end; keeping the objects keeps them open.
    _FOREIGN.extend(_POOLS.values())
    _POOLS.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def _is_alive(worker: Any) -> bool:
    """Whether an idle worker still lives: one that died meanwhile says so now, and is closed."""
    with contextlib.suppress(Exception):
        if worker.recv() is None:
            return True
    worker.close()
    return False
