"""Configuration: limits, languages and activation of code mode (cfg.1 to cfg.4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from .records import record

Enabled = bool | Literal["auto"]
Language = Literal["javascript", "typescript"]


class ConfigError(ValueError):
    """A configuration that is refused; names the field, the value and what is allowed."""


LANGUAGES: tuple[Language, ...] = ("javascript", "typescript")

_RANGES: dict[str, tuple[int, int]] = {
    "timeout_ms": (100, 60_000),
    "memory_limit_bytes": (1_048_576, 1_073_741_824),
    "max_output_bytes": (1_024, 10_485_760),
    "max_snapshot_bytes": (1_024, 268_435_456),
    "max_pending_tool_calls": (1, 128),
    "snapshot_ttl_seconds": (1, 86_400),
    "search_default_limit": (1, 1_000_000),
    "max_search_limit": (1, 50),
    "max_suspended_cells": (1, 1_000_000),
}
_WORDS: dict[str, tuple[str, ...]] = {
    "runtime": ("quickjs", "quickjs-wasi"),
    "mode": ("only",),
    "output_overflow": ("error", "truncate"),
    "error_details": ("message", "generic"),
}


@record(frozen=True, slots=True, kw_only=True)
class CodeModeConfig:
    """Settings of code mode. Python spelling here; `parse` also takes camelCase.

    Attributes:
        enabled: Never, always, or (`"auto"`) only for models marked as preferred.
        runtime: `"quickjs"`; `"quickjs-wasi"` is read as the same.
        mode: `"only"`: the model sees exec, wait and direct-only tools.
        languages: What a cell may be written in.
        timeout_ms: Wall-clock deadline of one exec or wait, 100 to 60000 ms.
        memory_limit_bytes: What a guest may allocate, 1 MiB to 1 GiB.
        max_output_bytes: Output and final value of a cell as compact JSON, 1 KiB to 10 MiB.
        max_snapshot_bytes: Uncompressed image of a suspended cell, 1 KiB to 256 MiB.
        max_pending_tool_calls: Nested calls in flight at once, 1 to 128; more of them queue.
        snapshot_ttl_seconds: How long a suspended cell is kept, 1 s to one day.
        search_default_limit: Hits of a search that names no limit; clamped to `max_search_limit`.
        max_search_limit: Most hits of a search, 1 to 50.
        max_suspended_cells: Suspended cells in this process.
        output_overflow: `"error"`, or `"truncate"` to cut output at the budget.
        error_details: `"message"` shows a tool's own error message to the guest, `"generic"`
            only that the tool failed.
        native_source: First part of the ids of native tools.
    """

    enabled: Enabled = "auto"
    runtime: str = "quickjs"
    mode: str = "only"
    languages: tuple[Language, ...] = LANGUAGES
    timeout_ms: int = 10_000
    memory_limit_bytes: int = 67_108_864
    max_output_bytes: int = 65_536
    max_snapshot_bytes: int = 10_485_760
    max_pending_tool_calls: int = 16
    snapshot_ttl_seconds: int = 900
    search_default_limit: int = 8
    max_search_limit: int = 50
    max_suspended_cells: int = 64
    output_overflow: str = "error"
    error_details: str = "message"
    native_source: str = "openclaw"

    def __post_init__(self) -> None:
        """Refuses what is out of range.

        Raises:
            ConfigError: Names the field, the value and the allowed range.
        """
        for name in _FIELDS:
            _check(name, name, getattr(self, name))
        put = object.__setattr__
        put(self, "languages", tuple(x for x in LANGUAGES if x in self.languages))
        put(self, "runtime", "quickjs")
        put(self, "search_default_limit", min(self.search_default_limit, self.max_search_limit))

    @classmethod
    def parse(cls, value: object = None) -> CodeModeConfig:
        """Reads a configuration value.

        Args:
            value: `True`, `False`, `"auto"`, a mapping with camelCase or snake_case keys, a
                `CodeModeConfig` (given back as it is), or None for the defaults.

        Raises:
            ConfigError: Unknown key, key given twice, wrong type, value out of range.
        """
        return value if isinstance(value, cls) else cls(**_read(value))

    def merge(self, over: object) -> CodeModeConfig:
        """Lays a per-agent value over this one, key by key.

        Args:
            over: A shorthand or a mapping, as `parse` takes them. Keys that it lacks keep this
                configuration's value. A `CodeModeConfig` replaces this one as a whole.

        Raises:
            ConfigError: As in `parse`.
        """
        if isinstance(over, CodeModeConfig):
            return over
        given = _read(over)
        return CodeModeConfig(**{name: getattr(self, name) for name in _FIELDS} | given)


_FIELDS: tuple[str, ...] = tuple(CodeModeConfig.__annotations__)


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)


_KEYS: dict[str, str] = {_camel(name): name for name in _FIELDS} | {n: n for n in _FIELDS}


def _read(value: object) -> dict[str, Any]:
    if value is None:
        return {}
    if isinstance(value, (bool, str)):
        _check("enabled", "enabled", value)
        return {"enabled": value}
    if not isinstance(value, Mapping):
        raise ConfigError(
            f"code mode configuration: {_show(value)} is not allowed; "
            'expected false, true, "auto" or an object'
        )
    out: dict[str, Any] = {}
    for key, item in value.items():
        name = _KEYS.get(key) if isinstance(key, str) else None
        if name is None:
            known = ", ".join(_camel(n) for n in _FIELDS)
            raise ConfigError(f"{_show(key)}: unknown key (value {_show(item)}); known: {known}")
        if name in out:
            raise ConfigError(f"{key}: given twice, as {_camel(name)} and {name}")
        _check(name, key, item)
        out[name] = item
    return out


def _check(name: str, key: str, value: object) -> None:
    allowed = _allowed(name, value)
    if allowed is not None:
        raise ConfigError(f"{key}: {_show(value)} is not allowed; expected {allowed}")


def _allowed(name: str, value: object) -> str | None:
    """What would be allowed, or None if `value` is."""
    if name in _RANGES:
        low, high = _RANGES[name]
        good = type(value) is int and low <= value <= high
        return None if good else f"an integer from {low} to {high}"
    if name in _WORDS:
        good = isinstance(value, str) and value in _WORDS[name]
        return None if good else " or ".join(f'"{w}"' for w in _WORDS[name])
    if name == "enabled":
        good = isinstance(value, bool) or value == "auto"
        return None if good else 'false, true or "auto"'
    if name == "languages":
        good = (
            isinstance(value, (tuple, list))
            and len(value) > 0
            and all(isinstance(x, str) and x in LANGUAGES for x in value)
        )
        return None if good else 'a non-empty subset of ["javascript", "typescript"]'
    good = isinstance(value, str) and value.isidentifier() and value not in ("mcp", "client")
    return None if good else 'an identifier other than "mcp" and "client"'


def _show(value: object) -> str:
    try:
        shown = repr(value)
    except Exception:  # noqa: BLE001 -- a broken repr is no reason to fail
        shown = f"<{type(value).__name__}>"
    return shown if len(shown) <= 80 else shown[:77] + "..."
