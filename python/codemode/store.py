"""Suspended cells, in memory (wai.2, wai.5, wai.7)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from .scope import Scope

_START_ANEW = (
    "wait takes only the runId of a result with status waiting, in the same session. "
    "Start a new exec instead."
)


class Parked(Protocol):
    """What the store knows of a cell."""

    run_id: str
    scope: Scope
    owner: object

    def dispose(self) -> None:
        """Frees the image and cancels the tools."""
        ...


class StoreFull(Exception):
    """No slot is left."""


class Refused(Exception):
    """A wait that is not allowed; the text is for the model."""


class _Slot:
    __slots__ = ("busy", "cell", "expiry")

    def __init__(self, cell: Parked) -> None:
        self.cell = cell
        self.busy = True
        self.expiry: asyncio.TimerHandle | None = None


class Store:
    """Slots of suspended cells. A cell keeps its slot while it is resumed."""

    def __init__(self) -> None:
        """Empty."""
        self._slots: dict[str, _Slot] = {}

    def __len__(self) -> int:
        """Slots in use."""
        return len(self._slots)

    def reserve(self, cell: Parked, cap: int) -> None:
        """Takes a slot, or keeps the one that the cell has.

        Raises:
            StoreFull: `cap` slots are in use.
        """
        if cell.run_id in self._slots:
            return
        if len(self._slots) >= cap:
            raise StoreFull
        self._slots[cell.run_id] = _Slot(cell)

    def park(self, cell: Parked, ttl_s: float) -> None:
        """Lets the cell be claimed again; after `ttl_s` seconds it is disposed of."""
        slot = self._slots[cell.run_id]
        slot.busy = False
        slot.expiry = asyncio.get_running_loop().call_later(ttl_s, self._expire, cell)

    def claim(self, run_id: str, scope: Scope, owner: object) -> Parked:
        """Takes a cell for one wait.

        Args:
            run_id: Id of the cell.
            scope: Who asks.
            owner: The asking run; counts where the cell's run has recorded no identity.

        Raises:
            Refused: Unknown, expired, of somebody else, or being waited for. The cell is left
                as it is.
        """
        slot = self._slots.get(run_id)
        if slot is None:
            raise Refused(f"code mode run is unavailable or expired. {_START_ANEW}")
        differs = slot.cell.scope.mismatch(scope)
        if differs is None and slot.cell.scope.is_empty and slot.cell.owner is not owner:
            differs = "run"
        if differs is not None:
            raise Refused(f"code mode run belongs to a different {differs}. {_START_ANEW}")
        if slot.busy:
            raise Refused(
                "code mode run is already being waited for. "
                "Use the result of that wait; do not send another one for the same runId."
            )
        slot.busy = True
        if slot.expiry is not None:
            slot.expiry.cancel()
            slot.expiry = None
        return slot.cell

    def release(self, cell: Parked) -> None:
        """Frees the slot of a cell, if it has one."""
        slot = self._slots.pop(cell.run_id, None)
        if slot is not None and slot.expiry is not None:
            slot.expiry.cancel()

    def owned_by(self, owner: object) -> list[Parked]:
        """Cells that `owner` has begun."""
        return [slot.cell for slot in self._slots.values() if slot.cell.owner is owner]

    def _expire(self, cell: Parked) -> None:
        self.release(cell)
        cell.dispose()


# One per process, because the cap is one per process.
STORE = Store()
