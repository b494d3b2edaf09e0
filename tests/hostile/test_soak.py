"""The short form of the soak, and many suspended cells."""

from __future__ import annotations

from typing import Any

import pytest
from benches.ours import cells
from benches.soak import soak

pytestmark = pytest.mark.hostile


@pytest.mark.parametrize(
    "seconds",
    [20, pytest.param(1800, marks=pytest.mark.slow)],
    ids=lambda n: f"{n} seconds",
)
@pytest.mark.req("saf.2", "saf.3", "wai.5")
async def test_under_mixed_load_nothing_is_lost_and_nothing_is_left(
    seconds: int, record_property: Any
) -> None:
    seen = await soak(seconds)
    record_property("cells per second", [round(rate) for rate in seen.rates])
    record_property("host, MB", [round(size, 1) for size in seen.sizes])
    assert seen.wrong == []
    assert seen.left == []
    assert len(seen.done) == 8
    assert seen.sizes[-1] < seen.sizes[0] + 64


@pytest.mark.parametrize(
    "count", [1_000, pytest.param(10_000, marks=pytest.mark.slow)], ids=lambda n: f"{n} cells"
)
@pytest.mark.req("wai.5", "snp.1", "snp.2")
async def test_many_suspended_cells_are_small_and_all_go_on(count: int) -> None:
    megabytes = await cells(count)
    # The target is 200 MB for 10,000.
    assert megabytes < 2 * 200 * count / 10_000 + 10
