"""Calls that run together, and calls that run alone."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


class Barrier:
    """Calls that want to be alone wait for those before them and hold up those after them."""

    def __init__(self) -> None:
        """Nothing runs."""
        self._running: dict[asyncio.Event, bool] = {}

    @asynccontextmanager
    async def enter(self, *, alone: bool) -> AsyncIterator[None]:
        """Waits for its turn; the turn ends with the block."""
        ended = asyncio.Event()
        before = [call for call, was_alone in self._running.items() if alone or was_alone]
        self._running[ended] = alone
        try:
            for call in before:
                await call.wait()
            yield
        finally:
            ended.set()
            del self._running[ended]
