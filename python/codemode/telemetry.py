"""Counters of a run (tel.1, tel.2)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

Kind = Literal["search", "describe", "call"]


class Counters:
    """What a run has counted; `scope` names the life of the counters in `telemetry`."""

    __slots__ = ("_before", "assistant_turns", "cost_usd", "scope", "since")

    def __init__(self) -> None:
        """Starts at zero."""
        self.assistant_turns = 0
        self.cost_usd: float | None = None
        self.since: dict[Kind, int] = {"search": 0, "describe": 0, "call": 0}
        self._before = dict(self.since)
        self.scope = os.urandom(8).hex()

    def restart(self) -> None:
        """Begins a new counter scope, as for a replaced catalog; the run's totals go on."""
        self._before = self.totals
        self.since = dict.fromkeys(self.since, 0)
        self.scope = os.urandom(8).hex()

    @property
    def totals(self) -> dict[Kind, int]:
        """Calls of the whole run."""
        return {kind: n + self._before[kind] for kind, n in self.since.items()}

    def snapshot(
        self, sources: Mapping[str, int], visible_tools: tuple[str, ...]
    ) -> dict[str, Any]:
        """The `telemetry` of a result.

        Args:
            sources: Catalog entries by kind: openclaw, mcp, client.
            visible_tools: Names of the tools that the model sees.
        """
        return {
            "catalogSize": sum(sources.values()),
            "sources": dict(sources),
            "counterScope": self.scope,
            "searchCount": self.since["search"],
            "describeCount": self.since["describe"],
            "callCount": self.since["call"],
            "visibleTools": list(visible_tools),
        }

    def metadata(self, engaged: bool) -> dict[str, Any]:
        """The run's metadata; `costUsd` only if cost data came in."""
        out: dict[str, Any] = {
            "codeModeEngaged": engaged,
            "assistantTurns": self.assistant_turns,
            "bridgeCalls": self.totals,
        }
        if self.cost_usd is not None:
            out["costUsd"] = self.cost_usd
        return out
