from __future__ import annotations

import asyncio

import pytest

from codemode import Scope
from codemode.store import Refused, Store, StoreFull


class Cell:
    def __init__(self, run_id: str, scope: Scope | None = None) -> None:
        self.run_id = run_id
        self.scope = scope or Scope(run_id="r")
        self.owner: object = self
        self.disposed = False

    def dispose(self) -> None:
        self.disposed = True


@pytest.mark.req("wai.5")
async def test_a_cell_keeps_its_slot_until_it_is_released() -> None:
    store = Store()
    one, two = Cell("1"), Cell("2")
    store.reserve(one, 1)
    store.reserve(one, 1)
    with pytest.raises(StoreFull):
        store.reserve(two, 1)
    store.park(one, 60)
    assert store.claim("1", one.scope, None) is one
    with pytest.raises(StoreFull):
        store.reserve(two, 1)
    store.release(one)
    store.release(one)
    store.reserve(two, 1)
    assert len(store) == 1
    store.release(two)


@pytest.mark.req("wai.2")
async def test_a_failed_claim_leaves_the_cell_as_it_was() -> None:
    store = Store()
    cell = Cell("1")
    store.reserve(cell, 1)
    with pytest.raises(Refused, match="already"):
        store.claim("1", cell.scope, None)
    store.park(cell, 60)
    with pytest.raises(Refused, match="different run"):
        store.claim("1", Scope(run_id="x"), None)
    with pytest.raises(Refused, match="expired"):
        store.claim("2", cell.scope, None)
    assert store.claim("1", Scope(run_id="r", agent_id="any"), None) is cell
    store.release(cell)


@pytest.mark.req("wai.2")
async def test_a_cell_without_recorded_identity_belongs_to_its_run() -> None:
    store = Store()
    cell = Cell("1", Scope())
    store.reserve(cell, 1)
    store.park(cell, 60)
    with pytest.raises(Refused, match="different run"):
        store.claim("1", Scope(), object())
    assert store.claim("1", Scope(), cell) is cell
    store.release(cell)


@pytest.mark.req("wai.5")
async def test_time_runs_only_while_a_cell_is_parked() -> None:
    store = Store()
    cell = Cell("1")
    store.reserve(cell, 1)
    store.park(cell, 0.01)
    store.claim("1", cell.scope, None)
    await asyncio.sleep(0.03)
    assert not cell.disposed
    store.park(cell, 0.01)
    await asyncio.sleep(0.03)
    assert cell.disposed
    assert len(store) == 0
