from __future__ import annotations

import asyncio
import os
import signal
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from codemode import CodeMode, CodeModeRun, Tool

YIELDS = "const n = {n}; await yield_control(); await yield_control(); return n;"


class CellLives(RuleBasedStateMachine):
    """Any order of exec, wait, abort, loss of all processes and closing, against a plain model."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.cm = self._do(self._open())
        self.run: CodeModeRun = self._do(self._run())
        # run id -> (number, waits that are left)
        self.cells: dict[str, tuple[int, int]] = {}
        self.dead: list[str] = []
        self.number = 0

    def _do(self, work: Any) -> Any:
        return self.loop.run_until_complete(work)

    def _one_of(self, data: Any, run_ids: list[str]) -> str:
        # By place: the ids themselves are random, and examples must be repeatable.
        return run_ids[data.draw(st.integers(0, len(run_ids) - 1))]

    async def _open(self) -> CodeMode:
        return CodeMode({"enabled": True, "maxSuspendedCells": 4})

    async def _run(self) -> CodeModeRun:
        return self.cm.run([Tool(name="nothing", execute=lambda *_: None)])

    @rule()
    def begin(self) -> None:
        self.number += 1
        result = self._do(self.run.exec({"code": YIELDS.format(n=self.number)}))
        if len(self.cells) >= 4:
            assert (result.status, result.code) == ("failed", "invalid_input")
            assert "too many suspended code mode runs" in result.error
        else:
            assert result.status == "waiting"
            self.cells[result.run_id] = (self.number, 2)

    @precondition(lambda self: self.cells)
    @rule(data=st.data())
    def go_on(self, data: Any) -> None:
        run_id = self._one_of(data, list(self.cells))
        number, left = self.cells[run_id]
        result = self._do(self.run.wait({"runId": run_id}))
        if left > 1:
            assert (result.status, result.run_id) == ("waiting", run_id)
            self.cells[run_id] = (number, left - 1)
        else:
            assert (result.status, result.value) == ("completed", number)
            del self.cells[run_id]
            self.dead.append(run_id)

    @precondition(lambda self: self.cells)
    @rule(data=st.data())
    def abort(self, data: Any) -> None:
        run_id = self._one_of(data, list(self.cells))
        self._do(self.run.abort(run_id))
        del self.cells[run_id]
        self.dead.append(run_id)

    @precondition(lambda self: self.dead)
    @rule(data=st.data())
    def wait_for_what_is_over(self, data: Any) -> None:
        result = self._do(self.run.wait({"runId": self._one_of(data, self.dead)}))
        assert (result.status, result.code) == ("failed", "invalid_input")

    @rule()
    def lose_all_processes(self) -> None:
        async def kill() -> None:
            pool = self.cm._pool()
            if pool._zygote is not None:
                before = pool.lost
                os.kill(pool._zygote.pid, signal.SIGKILL)
                # A program that begins on a dying process may be told so: that is another test.
                while pool.lost == before:  # noqa: ASYNC110 -- nothing to await
                    await asyncio.sleep(0.001)

        self._do(kill())

    @invariant()
    def the_next_program_works(self) -> None:
        result = self._do(self.run.exec({"code": "return 6 * 7"}))
        assert result.to_dict().get("value") == 42, result.to_dict()

    def teardown(self) -> None:
        self._do(self.cm.close())
        self.loop.close()


CellLives.TestCase.settings = settings(
    max_examples=25, stateful_step_count=15, deadline=None, suppress_health_check=list(HealthCheck)
)
test_cells_live_and_die_as_the_model_says = pytest.mark.req("wai.2", "wai.5", "wai.7", "saf.2")(
    CellLives.TestCase
)
