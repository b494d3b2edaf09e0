from __future__ import annotations

from typing import Any

import pytest

from codemode import CodeModeConfig, ModelRow
from codemode.activation import decide, lint, shipped_models


def engaged(enabled: Any, model: Any, *, has_tools: bool = True, extra: Any = ()) -> bool:
    config = CodeModeConfig.parse({"enabled": enabled})
    return decide(config, model=model, has_tools=has_tools, extra=extra).engaged


@pytest.mark.req("act.1")
@pytest.mark.parametrize(
    ("model", "auto"),
    [
        ("anthropic/claude-opus-5", True),
        ("ANTHROPIC/Claude-Opus-5", True),
        ("openai/gpt-5.5-pro", True),
        ("minimax/MiniMax-M3", True),
        ("kimi/k3-256k", True),
        ("together/deepseek-ai/DeepSeek-V4-Pro", False),
        ("ollama/llama", False),
        ("claude-opus-5", False),
        (None, False),
        ({"provider": "x", "model": "y", "codeMode": "preferred"}, True),
        ({"provider": "x", "model": "y", "codeMode": "capable"}, False),
        ({"provider": "x", "model": "y"}, False),
    ],
)
def test_auto_engages_for_preferred_models_only(model: Any, auto: bool) -> None:
    assert engaged("auto", model) is auto
    assert engaged(True, model) is True
    assert engaged(False, model) is False


@pytest.mark.req("act.2")
@pytest.mark.parametrize("enabled", [True, "auto"])
def test_models_without_tool_support_and_runs_without_tools_are_left_alone(enabled: Any) -> None:
    row = ModelRow(provider="x", model="y", tier="preferred", supports_tools=False)
    assert not engaged(enabled, row)
    assert not engaged(enabled, "anthropic/claude-opus-5", has_tools=False)


@pytest.mark.req("act.3")
def test_the_shipped_table_has_every_preferred_model_and_passes_the_lint() -> None:
    preferred: dict[str, set[str]] = {}
    for row in shipped_models():
        if row.tier == "preferred":
            preferred.setdefault(row.provider, set()).add(row.model)
    assert {provider: len(models) for provider, models in preferred.items()} == {
        "anthropic": 6,
        "deepseek": 2,
        "google": 6,
        "kimi": 2,
        "minimax": 1,
        "moonshot": 1,
        "openai": 6,
        "xiaomi": 1,
        "zai": 2,
    }
    assert lint(shipped_models()) == []


@pytest.mark.req("act.3")
def test_a_row_of_a_group_that_is_silent_about_its_tier_is_found() -> None:
    rows = [
        ModelRow(provider="a", model="Big-1", tier="preferred"),
        ModelRow(provider="b", model="vendor/big-1"),
        ModelRow(provider="c", model="other", upstream_model="a/BIG-1"),
        ModelRow(provider="d", model="small"),
    ]
    found = lint(rows)
    assert len(found) == 2
    assert "b/vendor/big-1" in found[0]
    assert "c/other" in found[1]


@pytest.mark.req("act.3")
def test_a_hosts_rows_win_over_the_shipped_ones() -> None:
    down = ModelRow(provider="anthropic", model="claude-opus-5", tier="capable")
    up = ModelRow(provider="ollama", model="llama", tier="preferred")
    assert not engaged("auto", "anthropic/claude-opus-5", extra=[down])
    assert engaged("auto", "ollama/llama", extra=[up])


@pytest.mark.parametrize(
    "row",
    [
        {"provider": "x"},
        {"model": "x"},
        {"provider": "", "model": "x"},
        {"provider": "x", "model": "y", "codeMode": "best"},
        {"provider": "x", "model": "y", "tier": "preferred"},
    ],
)
def test_a_wrong_row_is_refused(row: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="model row"):
        ModelRow.parse(row)
