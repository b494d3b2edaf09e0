"""Stand-ins for worker processes, to reach states that honest workers do not get into.

A `FakePool` gives workers that follow a script: a generator which receives what the host sends,
`(method, arguments)`, and yields what the worker answers: a frame of this module, an exception,
or None for silence.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Any

from codemode import Hooks, Scope, Tool
from codemode.catalog import CatalogView
from codemode.config import CodeModeConfig
from codemode.executor import Executor
from codemode.native import RuntimeUnavailable
from codemode.runner import Cell
from codemode.store import Store
from codemode.telemetry import Counters
from codemode.trajectory import Trajectory
from codemode.worker import GRACE_S, WorkerLate

Script = Generator[Any, tuple[str, dict[str, Any]], None]


@dataclass(kw_only=True)
class Suspended:
    requests: list[tuple[int, str, str, object]] = field(default_factory=list)
    output: list[dict[str, object]] = field(default_factory=list)
    output_used: int = 0
    timer_ms: int | None = None
    yielded: str | None = None
    main_settled: bool = False

    @property
    def request_sizes(self) -> list[int]:
        return [0] * len(self.requests)


@dataclass(kw_only=True)
class Finished:
    value: object = None
    output: list[dict[str, object]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    output_used: int = 0
    reusable: bool = False


@dataclass(kw_only=True)
class Failed:
    code: str = "internal_error"
    limit: str = ""
    message: str = "Error: no"
    location: tuple[int, int] | None = None
    output: list[dict[str, object]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


@dataclass(kw_only=True)
class Image:
    bytes: bytes = b"image"
    uncompressed: int = 5


class FakeWorker:
    kept = False

    def __init__(self, script: Script, deadline: float) -> None:
        self.script = script
        self.deadline = deadline
        self.discarded = False
        self.sent: list[tuple[str, dict[str, Any]]] = []
        self._loop = asyncio.get_running_loop()
        self._late: asyncio.TimerHandle | None = None
        next(script)

    def listen(self, on_turn: Callable[[Any], None], on_fail: Callable[[Exception], None]) -> None:
        self._on_turn, self._on_fail = on_turn, on_fail

    def send(self, method: str, *args: Any, **kwargs: Any) -> None:
        if args:
            kwargs["settlements"] = args[0]
        self.sent.append((method, kwargs))
        try:
            answer = self.script.send((method, kwargs))
        except StopIteration:
            answer = None
        if isinstance(answer, Exception):
            self._loop.call_soon(self._fail, answer)
        elif answer is None:
            self._late = self._loop.call_at(self.deadline + GRACE_S, self._fail, WorkerLate())
        else:
            self._loop.call_soon(self._tell, answer)

    async def suspend(self, most: int) -> Any:
        image: asyncio.Future[Any] = self._loop.create_future()
        self.listen(image.set_result, image.set_exception)
        self.send("suspend")
        return await image

    def abort(self) -> None:
        self._loop.call_soon(self._fail, RuntimeUnavailable("stopped"))

    def _tell(self, turn: Any) -> None:
        if not self.discarded:
            self._on_turn(turn)

    def _fail(self, error: Exception) -> None:
        if not self.discarded:
            self._on_fail(error)

    def discard(self) -> None:
        self.discarded = True
        if self._late is not None:
            self._late.cancel()
        self.script.close()


class FakePool:
    """Each worker of it follows the next script; the last script is used again and again."""

    def __init__(self, *scripts: Callable[[], Script]) -> None:
        self.scripts = list(scripts)
        self.workers: list[FakeWorker] = []
        self.last_words = ""
        self.lost = 0
        self.report: str | None = "{}"

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        return asyncio.get_running_loop()

    async def take(
        self, owner: object, *, max_frame: int, max_output: int, fetch: Any, deadline: float
    ) -> FakeWorker:
        script = self.scripts[min(len(self.workers), len(self.scripts) - 1)]
        worker = FakeWorker(script(), deadline)
        self.workers.append(worker)
        return worker

    def give_back(self, owner: object, live: FakeWorker) -> None:
        live.discard()


class Bench:
    """A cell with scripted workers and real tools."""

    def __init__(
        self,
        *scripts: Callable[[], Script],
        tools: tuple[Tool, ...] = (),
        store: Store | None = None,
        restart_safe: bool = False,
        hooks: Hooks | None = None,
        **config: Any,
    ) -> None:
        self.config = CodeModeConfig(enabled=True, **config)
        self.counters = Counters()
        self.trajectory = Trajectory(listener=hooks.on_event if hooks else None)
        self.pool = FakePool(*scripts)
        self.store = store if store is not None else Store()
        self.tasks: set[asyncio.Task[None]] = set()
        scope = Scope(run_id="r")
        view = CatalogView(tools, "openclaw")
        self.cell = Cell(
            run_id=f"cm_{id(self)}",
            owner=self,
            scope=scope,
            config=self.config,
            view=view,
            executor=Executor(
                config=self.config,
                scope=scope,
                hooks=hooks,
                counters=self.counters,
                trajectory=self.trajectory,
            ),
            pool=self.pool,  # type: ignore[arg-type]
            store=self.store,
            call_id="c1",
            restart_safe=restart_safe,
            telemetry=lambda: self.counters.snapshot(view.sources, ("exec", "wait")),
            fetch=lambda kind, argument: b"\0",
            tasks=self.tasks,
        )

    async def start(self) -> Any:
        return await self.cell.start(
            code="return 1", typescript=False, globals_blob=b"\0", warnings=[]
        )

    async def wait(self) -> Any:
        assert self.store.claim(self.cell.run_id, Scope(run_id="r"), None) is self.cell
        return await self.cell.resume(self.cell._pool)


def call(number: int, name: str, value: object = None) -> tuple[int, str, str, object]:
    return (number, "callValue", name, value)


def gate(name: str, **kwargs: Any) -> tuple[Tool, asyncio.Event]:
    """A tool that ends when the event is set."""
    opened = asyncio.Event()

    async def execute(_: Any, __: Any) -> str:
        await opened.wait()
        return name

    return Tool(name=name, execute=execute, **kwargs), opened


def decode_all(settlements: list[tuple[int, bool, bytes]]) -> list[tuple[int, bool, Any]]:
    from codemode._engine import decode

    return [(number, ok, decode(value)) for number, ok, value in settlements]
