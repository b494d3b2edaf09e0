"""Who a cell belongs to."""

from __future__ import annotations

from .records import record


@record(frozen=True, slots=True, kw_only=True)
class Scope:
    """Identity of one agent run. Fields that are None were not recorded and are not compared.

    Attributes:
        agent_id: The agent.
        session_id: Its session.
        session_key: Key of that session, for hosts that route by key.
        run_id: The outer run (one turn of the agent), not the id of a cell.
    """

    agent_id: str | None = None
    session_id: str | None = None
    session_key: str | None = None
    run_id: str | None = None

    def mismatch(self, caller: Scope) -> str | None:
        """First identity in which `caller` differs from this owner, or None if it is the same.

        Returns:
            `"agent"`, `"session"` or `"run"`; every field that the owner recorded counts.
        """
        for field, word in _WORDS:
            mine = getattr(self, field)
            if mine is not None and mine != getattr(caller, field):
                return word
        return None

    @property
    def is_empty(self) -> bool:
        """Whether nothing was recorded."""
        return all(getattr(self, field) is None for field, _ in _WORDS)


_WORDS = (
    ("agent_id", "agent"),
    ("session_id", "session"),
    ("session_key", "session"),
    ("run_id", "run"),
)
