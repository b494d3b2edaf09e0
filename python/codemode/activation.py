"""Whether code mode owns the tools of a run (act.1 to act.4)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from .records import record

if TYPE_CHECKING:
    from .config import CodeModeConfig

Tier = Literal["preferred", "capable"]


@record(frozen=True, slots=True, kw_only=True)
class ModelRow:
    """One model in the catalog of one provider.

    Attributes:
        provider: Provider id.
        model: Model id within it; may have a namespace (`vendor/model`).
        tier: `compat.codeMode`; None if the catalog says nothing.
        supports_tools: `compat.supportsTools`.
        upstream_model: The same model under another name; only needed for the lint.
    """

    provider: str
    model: str
    tier: Tier | None = None
    supports_tools: bool = True
    upstream_model: str | None = None

    @property
    def key(self) -> tuple[str, str]:
        """What a run's model is looked up by."""
        return self.provider.lower(), self.model.lower()

    @property
    def group(self) -> str:
        """Rows with the same one describe the same upstream model."""
        return (self.upstream_model or self.model).rsplit("/", 1)[-1].lower()

    @classmethod
    def parse(cls, value: Mapping[str, Any]) -> ModelRow:
        """Reads a row: `{provider, model, codeMode?, supportsTools?, upstreamModel?}`.

        Raises:
            ValueError: A field is missing, unknown or wrong; names it.
        """
        known = {"provider", "model", "codeMode", "supportsTools", "upstreamModel"}
        for key in value:
            if key not in known:
                raise ValueError(f"model row: unknown key {key!r}")
        for key in ("provider", "model"):
            if not isinstance(value.get(key), str) or not value[key]:
                raise ValueError(f"model row: {key} must be a non-empty string")
        tier = value.get("codeMode")
        if tier not in (None, "preferred", "capable"):
            raise ValueError(f'model row: codeMode is {tier!r}, not "preferred" or "capable"')
        return cls(
            provider=value["provider"],
            model=value["model"],
            tier=tier,
            supports_tools=value.get("supportsTools", True) is not False,
            upstream_model=value.get("upstreamModel"),
        )


@cache
def shipped_models() -> tuple[ModelRow, ...]:
    """The table that comes with the package."""
    from importlib.resources import files

    text = (files(__package__) / "models.json").read_text("utf-8")
    return tuple(ModelRow.parse(row) for row in json.loads(text))


def lint(rows: Iterable[ModelRow]) -> list[str]:
    """Groups in which some rows state a tier and others do not (act.3).

    Returns:
        One sentence per row that has to state its tier; empty if all is well.
    """
    groups: dict[str, list[ModelRow]] = {}
    for row in rows:
        groups.setdefault(row.group, []).append(row)
    return [
        f"{row.provider}/{row.model} states no tier, but other rows of {name} do"
        for name, group in sorted(groups.items())
        if any(row.tier for row in group)
        for row in group
        if row.tier is None
    ]


@record(frozen=True, slots=True, kw_only=True)
class Activation:
    """Whether code mode engages, and why.

    Attributes:
        engaged: It owns the tool list.
        reason: For people.
    """

    engaged: bool
    reason: str


def decide(
    config: CodeModeConfig,
    *,
    model: str | Mapping[str, Any] | ModelRow | None,
    has_tools: bool,
    extra: Iterable[ModelRow] = (),
) -> Activation:
    """Decides for one run.

    Args:
        config: With the per-agent part merged in.
        model: `"provider/model"`, a row or its mapping, or None if not known.
        has_tools: False for a run that deliberately has no tools.
        extra: The host's own rows; they win over the shipped ones.

    Raises:
        ValueError: `model` is a mapping and no valid row.
        TypeError: `model` is something else.
    """
    row, shown = _row(model, extra)
    if config.enabled is False:
        return Activation(engaged=False, reason="disabled by configuration")
    if not has_tools:
        return Activation(engaged=False, reason="the run has no tools")
    if row is not None and not row.supports_tools:
        return Activation(engaged=False, reason=f"{shown} does not support tools")
    if config.enabled is True:
        return Activation(engaged=True, reason="enabled by configuration")
    if row is None or row.tier is None:
        return Activation(engaged=False, reason=f"auto: {shown} is not marked")
    return Activation(engaged=row.tier == "preferred", reason=f"auto: {shown} is {row.tier}")


def _row(
    model: str | Mapping[str, Any] | ModelRow | None, extra: Iterable[ModelRow]
) -> tuple[ModelRow | None, str]:
    if model is None:
        return None, "an unnamed model"
    if isinstance(model, Mapping):
        model = ModelRow.parse(model)
    if isinstance(model, ModelRow):
        return model, f"{model.provider}/{model.model}"
    if not isinstance(model, str):
        raise TypeError('model must be "provider/model", a row or None')
    provider, _, name = model.partition("/")
    key = (provider.lower(), name.lower())
    rows = {row.key: row for row in (*shipped_models(), *extra)}
    return rows.get(key), model
