from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

from codemode import CodeMode, CodeModeConfig, CodeModeRun
from codemode.engine import lease

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

# A check of a commit says the same each time. `--hypothesis-profile=default` searches on.
settings.register_profile("repeatable", derandomize=True)
settings.load_profile("repeatable")


@pytest.fixture(params=["straight", "parked"])
def route(request: pytest.FixtureRequest) -> str:
    """Parked: at every suspension an image is taken and restored in another process."""
    return str(request.param)


@pytest.fixture
async def make_cm(route: str) -> AsyncIterator[Any]:
    """Makes `CodeMode` objects on this route; closes them at the end."""
    made: list[CodeMode] = []
    # Tests with short deadlines are not about how long a process takes to start.
    held = lease()
    await held.pool.ready()

    def make(config: Any = None, **kwargs: Any) -> CodeMode:
        given = (
            config if isinstance(config, CodeModeConfig) else {"enabled": True, **(config or {})}
        )
        made.append(CodeMode(given, _park_every_turn=route == "parked", **kwargs))
        return made[-1]

    yield make
    for cm in made:
        await cm.close()
    held.release()


@pytest.fixture
def make_run(make_cm: Any) -> Any:
    """Makes runs: `make_run(tools, config=…, **arguments of CodeMode.run)`."""

    def make(tools: Any = (), *, config: Any = None, **kwargs: Any) -> CodeModeRun:
        from codemode import Tool

        # A run without tools is no code mode run.
        given = tuple(tools) or (Tool(name="nothing", execute=lambda *_: None),)
        run: CodeModeRun = make_cm(config).run(given, **kwargs)
        return run

    return make
