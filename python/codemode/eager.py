"""Tasks that begin at once: most tools end without waiting, and need no turn of the event loop."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Coroutine

if sys.version_info >= (3, 12):

    def start(loop: asyncio.AbstractEventLoop, coro: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Makes a task and runs it up to where it first waits.

        A loop with a task factory of its own decides itself when a task begins.

        Args:
            loop: The running loop.
            coro: What the task runs.
        """
        if loop.get_task_factory() is not None:
            return loop.create_task(coro)
        return asyncio.Task(coro, loop=loop, eager_start=True)

else:

    def start(loop: asyncio.AbstractEventLoop, coro: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Makes a task and runs it up to where it first waits, where that is possible.

        Not inside of another task, nor on a loop that is not of asyncio: there it begins in the
        next turn of the loop.

        Args:
            loop: The running loop.
            coro: What the task runs.
        """
        task = loop.create_task(coro)
        # The first step is the newest entry of the loop's queue; it is taken out and run.
        queue = getattr(loop, "_ready", None)
        if queue and asyncio.current_task(loop) is None:
            step = queue[-1]
            if getattr(getattr(step, "_callback", None), "__self__", None) is task:
                queue.pop()
                step._run()  # noqa: SLF001
        return task
