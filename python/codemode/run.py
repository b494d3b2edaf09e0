"""One agent run: its catalog, what the model sees of it, and the model's calls."""

from __future__ import annotations

import asyncio
import os
import time
from collections import deque
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from .answers import answer, encoded, features
from .call import GuestError
from .direct import DirectCalls
from .executor import Executor, Extension
from .guard import guard_payload
from .inputs import BadInput, read_exec, read_wait
from .models import ErrorCode, Failed, Limit, Result
from .native import RuntimeUnavailable
from .policy import EXEC_TOOL_KIND, CallEvent, Hooks, Policy
from .records import record
from .runner import Cell, unavailable
from .store import STORE, Refused
from .surface import EXEC, WAIT, ModelTool, direct_tool, exec_tool, hidden_tool_error, wait_tool
from .telemetry import Counters
from .tools import CLIENT, Tool, ToolResult
from .trajectory import Trajectory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from .activation import Activation
    from .catalog import CatalogCache, CatalogView
    from .config import CodeModeConfig
    from .debug import Debug
    from .engine import Pool
    from .scope import Scope

_JOIN_S = 1.0
_FINISHED = 64
# What a debug log shows of an event: no inputs and no error texts.
_LOGGED = ("callId", "parentCallId", "name", "tool", "outcome", "durationMs", "runId")


@record(frozen=True, slots=True, kw_only=True)
class Host:
    """What a run needs of the `CodeMode` that made it."""

    cache: CatalogCache
    pool: Callable[[], Pool]
    forget: Callable[[CodeModeRun], None]
    debug: Debug
    park_every_turn: bool = False


class CodeModeRun:
    """One agent run: its catalog, what the model sees, and its cells. Made by `CodeMode.run`."""

    def __init__(
        self,
        host: Host,
        *,
        tools: tuple[Tool, ...],
        scope: Scope,
        config: CodeModeConfig,
        activation: Activation,
        policy: Policy | None,
        hooks: Hooks | None,
        visible: tuple[str, ...],
        extensions: tuple[Extension, ...],
        redactor: Callable[[Any], Any],
    ) -> None:
        """See `CodeMode.run`."""
        self._host = host
        self.scope = scope
        self.config = config
        self.activation = activation
        self._policy = policy
        self._hooks = hooks
        self._extensions = extensions
        served = [op for extension in extensions for op in extension.ops]
        for op in served:
            if served.count(op) > 1:
                raise ValueError(f"extensions: two extensions serve {op!r}; put them into one")
        self._counters = Counters()
        listening = hooks is not None or host.debug.code_mode
        self.trajectory = Trajectory(
            listener=self._listen if listening else None, redactor=redactor
        )
        self._tasks: set[asyncio.Task[None]] = set()
        self._cells: set[Cell] = set()
        # Ids of cells whose last result was that of a wait.
        self._finished: deque[str] = deque(maxlen=_FINISHED)
        # For whoever runs the model's calls; they end with the run.
        self.direct_calls = DirectCalls()
        self._executor: Executor | None = None
        self._closed = False
        self._aborts = 0
        self._pool: Pool | None = None
        self._call_number = 0
        self._given = tools
        self._visible_names = frozenset(visible)
        self._surface: tuple[ModelTool, ...] | None = None
        self._set_tools(tools)
        for name in visible:
            if name not in self._view.native:
                raise ValueError(f"visible: {name!r} is no native tool of this run")
        host.debug.log(
            "run", engaged=self.engaged, reason=activation.reason, modelTools=self._visible
        )

    # What the model sees

    @property
    def engaged(self) -> bool:
        """Whether code mode owns the model's tool list (act.5)."""
        return self.activation.engaged

    @property
    def model_tools(self) -> tuple[ModelTool, ...] | tuple[Tool, ...]:
        """exec, wait and direct tools as `ModelTool`; not engaged: the given tools, unchanged."""
        if not self.engaged:
            return self._given
        if self._surface is None:
            self._surface = (
                exec_tool(self._view, self.config, self._features()),
                wait_tool(),
                *(direct_tool(tool) for tool in self._direct.values()),
            )
        return self._surface

    @property
    def catalog(self) -> CatalogView:
        """The present version of the catalog."""
        return self._view

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was wrong with the tools, for the host."""
        return self._view.warnings

    def guard(self, payload: Mapping[str, Any]) -> Mapping[str, Any]:
        """The last look at a request before it is sent to a provider (srf.6).

        Args:
            payload: The final request body, in the form of OpenAI, Anthropic or Gemini.

        Returns:
            A copy with the approved tools only; not engaged: the payload itself.

        Raises:
            PayloadRefused: It is not the code mode surface; lists what was found.
        """
        self._host.debug.log_payload(payload)
        return guard_payload(payload, self._visible) if self.engaged else payload

    def append_client_tools(self, tools: Iterable[Tool]) -> None:
        """Adds client tools; cells that began earlier keep their view (cat.11).

        Raises:
            ValueError: One of them is no client tool.
        """
        more = tuple(tools)
        for tool in more:
            if tool.source != CLIENT:
                raise ValueError(f'tools: {tool.name!r} is no Tool with source="client"')
        self._set_tools((*self._given, *more))

    def replace_tools(self, tools: Iterable[Tool]) -> None:
        """Replaces the tools, as after a list change; begins a new counter scope."""
        self._set_tools(tuple(tools))
        self._counters.restart()

    def _set_tools(self, tools: tuple[Tool, ...]) -> None:
        allowed = tools
        if self._policy is not None:
            allowed = tuple(t for t in tools if self._policy.allows(t, self.scope))
        view = self._host.cache.view(allowed, self.config.native_source)
        self._given = tools
        self._view = view
        self._surface = None
        names = (EXEC, WAIT)
        shown = view.shown(self._visible_names)
        self._direct = {name: tool for name, tool in shown.items() if name not in names}
        self._visible = (*names, *self._direct)

    # Calls of the model

    async def exec(self, arguments: Mapping[str, Any], *, call_id: str | None = None) -> Result:
        """Starts a cell (exe).

        Args:
            arguments: What the model sent: `{code, language?, restartSafe?}`.
            call_id: Id of the model's tool call.

        Returns:
            `Completed`, `Waiting` or `Failed`; whatever the model did wrong is a `Failed`.

        Raises:
            RuntimeError: The configuration disables code mode, or the run was closed.
        """
        self._check_open()
        outer = self._next_id("exec", call_id)
        try:
            read = read_exec(arguments, self.config)
        except BadInput as error:
            return self._refuse(EXEC, outer, str(error), limit=error.limit)
        kind = "typescript" if read.typescript else "javascript"
        self._record_start(EXEC, outer, read.code, toolKind=EXEC_TOOL_KIND, toolInputKind=kind)
        if self._hooks is not None:
            aborts = self._aborts
            event = CallEvent(
                call_id=outer,
                parent_call_id=None,
                name=EXEC,
                tool_id="",
                input=dict(arguments),
                scope=self.scope,
                tool_kind=EXEC_TOOL_KIND,
                tool_input_kind=kind,
            )
            try:
                read = read_exec(await self._get_executor().ask(event, self._hooks), self.config)
            except (GuestError, BadInput) as error:
                return self._refuse(EXEC, outer, str(error))
            except BaseException:
                self.trajectory.add("call_end", outer, name=EXEC, outcome="cancelled")
                raise
            if self._closed or self._aborts != aborts:
                return self._refuse(EXEC, outer, "code mode run was aborted by its owner.")
        try:
            cell, globals_blob = self._new_cell(outer, read.restart_safe)
        except RuntimeUnavailable as error:
            return self._refuse(EXEC, outer, unavailable(str(error)), code="runtime_unavailable")
        return await self._drive(
            EXEC,
            outer,
            cell,
            cell.start(
                code=read.code,
                typescript=read.typescript,
                globals_blob=globals_blob,
                warnings=list(read.warnings),
            ),
        )

    def _new_cell(self, outer: str, restart_safe: bool) -> tuple[Cell, bytes]:
        view = self._view
        globals_blob = encoded(self._features())
        pool = self._pool_here()
        cell = Cell(
            run_id=f"cm_{os.urandom(12).hex()}",
            owner=self,
            scope=self.scope,
            config=self.config,
            view=view,
            executor=self._get_executor(),
            pool=pool,
            store=STORE,
            call_id=outer,
            restart_safe=restart_safe,
            telemetry=self._telemetry,
            fetch=partial(answer, self._extensions, view),
            tasks=self._tasks,
            on_end=self._cells.discard,
            park_every_turn=self._host.park_every_turn,
        )
        self._cells.add(cell)
        return cell, globals_blob

    async def wait(self, arguments: Mapping[str, Any], *, call_id: str | None = None) -> Result:
        """Continues a suspended cell (wai).

        Args:
            arguments: What the model sent: `{runId}`.
            call_id: Id of the model's tool call.

        Returns:
            As `exec`.

        Raises:
            RuntimeError: As in `exec`.
        """
        self._check_open()
        outer = self._next_id("wait", call_id)
        try:
            run_id = read_wait(arguments)
            pool = self._pool_here()
            cell = self._claim(run_id)
        except (BadInput, Refused) as error:
            return self._refuse(WAIT, outer, str(error))
        self._record_start(WAIT, outer, run_id)
        return await self._drive(WAIT, outer, cell, cell.resume(pool))

    def _pool_here(self) -> Pool:
        """The processes of the running loop, to which the run moves if its former one has ended."""
        before, pool = self._pool, self._host.pool()
        if before is not None and before.loop is not pool.loop and before.loop.is_running():
            raise RuntimeError("this run is in use on another event loop: use it there")
        self._pool = pool
        return pool

    def _claim(self, run_id: str) -> Cell:
        if run_id in self._finished:
            raise Refused(
                "code mode run has already finished; its result came with the last wait. "
                "Use that result, or start a new exec."
            )
        return cast("Cell", STORE.claim(run_id, self.scope, self))

    async def call(
        self, name: str, arguments: Any = None, *, call_id: str | None = None
    ) -> Result | ToolResult:
        """Dispatches any tool call of the model.

        Args:
            name: Tool name as the model gave it.
            arguments: What the model sent.
            call_id: Id of the model's tool call.

        Returns:
            exec and wait: their result. A visible tool: its `ToolResult` (with `is_error` if it
            failed). A hidden or unknown one: `Failed` with a text that shows the exec form.

        Raises:
            RuntimeError: Code mode is not engaged in this run, or the run was closed.
        """
        self._check_open()
        if not self.engaged:
            raise RuntimeError(f"code mode is not engaged in this run: {self.activation.reason}")
        # A model's call may come from anywhere.
        if not isinstance(cast("object", name), str):
            outer = self._next_id("call", call_id)
            return self._refuse("", outer, "A tool call needs the name of a tool. Nothing was run.")
        if name == EXEC:
            return await self.exec(arguments, call_id=call_id)
        if name == WAIT:
            return await self.wait(arguments, call_id=call_id)
        outer = self._next_id("call", call_id)
        tool = self._direct.get(name)
        if tool is None:
            return self._refuse(name, outer, hidden_tool_error(name, self._view))
        executor = self._get_executor()
        return await self.direct_calls.run(executor, self._view, tool, outer, arguments)

    # Life

    async def abort(self, run_id: str | None = None) -> None:
        """Ends cells of this run at once and cancels their tools.

        Args:
            run_id: One cell; all of them if None.
        """
        if run_id is None:
            self._aborts += 1
            self.direct_calls.abort()
        cells = [c for c in self._cells if run_id is None or c.run_id == run_id]
        await asyncio.gather(*(cell.abort() for cell in cells))

    async def close(self) -> None:
        """Ends the run: frees its cells, cancels its tools. Never waits longer than a second."""
        if self._closed:
            return
        self._closed = True
        self._host.forget(self)
        self.direct_calls.abort()
        for cell in list(self._cells):
            cell.dispose()
        tasks = [task for task in self._tasks if not task.done()]
        for task in tasks:
            task.cancel()
        if self._pool is not None:
            self._pool.let_go(self)
        if tasks:
            await asyncio.wait(tasks, timeout=_JOIN_S)

    async def __aenter__(self) -> CodeModeRun:
        """Gives itself."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Closes it."""
        await self.close()

    @property
    def metadata(self) -> dict[str, Any]:
        """Run metadata (tel.2)."""
        return self._counters.metadata(self.engaged)

    def record_turn(self, cost_usd: float | None = None) -> None:
        """Counts one round trip to the model.

        Args:
            cost_usd: What it cost, if the model has cost data.
        """
        self._counters.assistant_turns += 1
        if cost_usd is not None:
            self._counters.cost_usd = (self._counters.cost_usd or 0.0) + cost_usd

    # Inside

    async def _drive(self, name: str, outer: str, cell: Cell, driving: Any) -> Result:
        started = time.perf_counter()
        outcome, message = "cancelled", None
        try:
            result: Result = await driving
            outcome = result.status
            if name == WAIT and outcome != "waiting":
                self._finished.append(cell.run_id)
            message = result.error if isinstance(result, Failed) else None
        finally:
            self.trajectory.add(
                "call_end",
                outer,
                payload=None if message is None else ("error", message),
                name=name,
                outcome=outcome,
                durationMs=round((time.perf_counter() - started) * 1000, 3),
                runId=cell.run_id,
            )
        return result

    def _listen(self, event: Mapping[str, Any]) -> None:
        if self._host.debug.code_mode:
            self._host.debug.log(event["type"], **{k: event[k] for k in _LOGGED if k in event})
        if self._hooks is not None:
            self._hooks.on_event(event)

    def _record_start(self, name: str, outer: str, payload: str, **more: Any) -> None:
        field = "code" if name == EXEC else "runId"
        self.trajectory.add(
            "call_start", outer, payload=("input", {field: payload}), name=name, **more
        )

    def _refuse(
        self,
        name: str,
        outer: str,
        message: str,
        *,
        limit: Limit | None = None,
        code: ErrorCode = "invalid_input",
    ) -> Failed:
        self.trajectory.add(
            "call_end", outer, payload=("error", message), name=name[:100], outcome="failed"
        )
        return Failed(error=message, code=code, limit=limit, telemetry=self._telemetry())

    def _telemetry(self) -> Mapping[str, Any]:
        return self._counters.snapshot(self._view.sources, self._visible)

    def _features(self) -> dict[str, Any]:
        return features(self._extensions, self._view)

    def _get_executor(self) -> Executor:
        if self._executor is None:
            self._executor = Executor(
                config=self.config,
                scope=self.scope,
                hooks=self._hooks,
                counters=self._counters,
                trajectory=self.trajectory,
                extensions=self._extensions,
            )
        return self._executor

    def _check_open(self) -> None:
        # Engagement is about what the model sees; a host may run a program of its own anyway.
        if self.config.enabled is False:
            raise RuntimeError("code mode is disabled by the configuration (enabled: false)")
        if self._closed:
            raise RuntimeError("this run is closed")

    def _next_id(self, name: str, call_id: str | None) -> str:
        if call_id is not None:
            return call_id
        self._call_number += 1
        return f"{name}-{self._call_number}"
