"""The public face: `CodeMode`, which makes runs."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from .activation import ModelRow, decide
from .catalog import CatalogCache
from .config import CodeModeConfig
from .debug import Debug
from .engine import Lease, Pool, lease
from .run import CodeModeRun, Host
from .scope import Scope
from .tools import Tool
from .trajectory import redact

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from .executor import Extension
    from .policy import Hooks, Policy


class CodeMode:
    """Code mode for one host program. Use it as an async context manager, or call `close`.

    Bound to no event loop until the first exec; each loop that uses it has its own processes.
    """

    def __init__(
        self,
        config: CodeModeConfig | Mapping[str, Any] | bool | str | None = None,
        *,
        models: Iterable[ModelRow | Mapping[str, Any]] = (),
        _park_every_turn: bool = False,
    ) -> None:
        """Starts nothing yet.

        Args:
            config: As `CodeModeConfig.parse` takes it.
            models: The host's own rows of the model table; they win over the shipped ones.

        Raises:
            ConfigError: The configuration is refused.
            ValueError: A row of `models` is refused.
        """
        self.config = CodeModeConfig.parse(config)
        self._models = tuple(
            row if isinstance(row, ModelRow) else ModelRow.parse(row) for row in models
        )
        self._leases: dict[int, Lease] = {}
        self._runs: set[CodeModeRun] = set()
        self._closed = False
        self._host = Host(
            cache=CatalogCache(),
            pool=self._pool,
            forget=self._runs.discard,
            debug=Debug.from_environment(),
            park_every_turn=_park_every_turn,
        )

    async def __aenter__(self) -> CodeMode:
        """Gives itself; where code mode is on, processes start while tools are prepared."""
        if self.config.enabled is True:
            self._start_early()
        return self

    async def __aexit__(self, *_: object) -> None:
        """Closes it."""
        await self.close()

    def run(
        self,
        tools: Iterable[Tool] = (),
        *,
        scope: Scope | None = None,
        model: str | Mapping[str, Any] | ModelRow | None = None,
        config: Mapping[str, Any] | CodeModeConfig | bool | str | None = None,
        policy: Policy | None = None,
        hooks: Hooks | None = None,
        visible: Iterable[str] = (),
        tools_disabled: bool = False,
        extensions: Iterable[Extension] = (),
        redactor: Callable[[Any], Any] = redact,
    ) -> CodeModeRun:
        """Prepares one agent run.

        Args:
            tools: The effective tools: native, plugin, MCP and client ones.
            scope: Who runs; without one, only this run object can wait for its cells.
            model: `"provider/model"` or a row of the provider's catalog; decides with `"auto"`.
            config: Per-agent settings over the ones of this object, key by key.
            policy: Filters the tools.
            hooks: Watch and control calls.
            visible: Names of native tools that the model keeps seeing besides exec and wait.
            tools_disabled: The run deliberately has no tools (a raw model call).
            extensions: Further guest globals; one extension of each kind.
            redactor: Copy of an input without secrets, for the trajectory.

        Raises:
            TypeError: An argument has the wrong type; the error names it.
            ValueError: `visible` names no native tool, or two extensions serve the same.
            RuntimeError: This object was closed.
        """
        if self._closed:
            raise RuntimeError("CodeMode is closed")
        given = tuple(tools)
        for item in given:
            if not isinstance(item, Tool):
                raise TypeError(f"tools: {type(item).__name__} is no Tool; use @tool or Tool(...)")
        more = tuple(extensions)
        merged = self.config if config is None else self.config.merge(config)
        run = CodeModeRun(
            self._host,
            tools=given,
            scope=scope or Scope(),
            config=merged,
            activation=decide(
                merged,
                model=model,
                has_tools=bool(given or more) and not tools_disabled,
                extra=self._models,
            ),
            policy=policy,
            hooks=hooks,
            visible=tuple(visible),
            extensions=more,
            redactor=redactor,
        )
        self._runs.add(run)
        if run.engaged:
            self._start_early()
        return run

    def _start_early(self) -> None:
        """Lets processes start while the model thinks; whatever is wrong, the first exec tells."""
        try:
            self._pool().warm()
        except (RuntimeError, BlockingIOError):
            return

    async def ready(self) -> dict[str, Any]:
        """Waits until cells can run on this loop; for a health check at start-up.

        Returns:
            What the worker says of its engine and its confinement.

        Raises:
            RuntimeUnavailable: They cannot run; the text says why.
        """
        report: dict[str, Any] = json.loads(await self._pool().ready())
        return report

    async def close(self) -> None:
        """Ends all runs and processes. Never waits longer than about a second."""
        self._closed = True
        await asyncio.gather(*(run.close() for run in list(self._runs)))
        leases, self._leases = self._leases, {}
        for held in leases.values():
            held.release()

    def _pool(self) -> Pool:
        if self._closed:
            raise RuntimeError("CodeMode is closed")
        loop = asyncio.get_running_loop()
        held = self._leases.get(id(loop))
        if held is None or held.pool.loop is not loop or held.is_foreign:
            held = self._leases[id(loop)] = lease()
        return held.pool
