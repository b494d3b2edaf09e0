from __future__ import annotations

import pytest

from codemode import CodeModeConfig, ConfigError

TABLE = {
    "timeout_ms": ("timeoutMs", 10_000, 100, 60_000),
    "memory_limit_bytes": ("memoryLimitBytes", 67_108_864, 1_048_576, 1_073_741_824),
    "max_output_bytes": ("maxOutputBytes", 65_536, 1_024, 10_485_760),
    "max_snapshot_bytes": ("maxSnapshotBytes", 10_485_760, 1_024, 268_435_456),
    "max_pending_tool_calls": ("maxPendingToolCalls", 16, 1, 128),
    "snapshot_ttl_seconds": ("snapshotTtlSeconds", 900, 1, 86_400),
    "max_search_limit": ("maxSearchLimit", 50, 1, 50),
}


@pytest.mark.req("cfg.1")
@pytest.mark.parametrize("name", TABLE)
def test_defaults_and_both_ends_of_a_range_are_taken_in_both_spellings(name: str) -> None:
    camel, default, low, high = TABLE[name]
    assert getattr(CodeModeConfig(), name) == default
    for value in (low, high):
        assert getattr(CodeModeConfig.parse({camel: value}), name) == value
        assert getattr(CodeModeConfig.parse({name: value}), name) == value
        assert getattr(CodeModeConfig(**{name: value}), name) == value


@pytest.mark.req("cfg.1")
def test_words_have_the_stated_defaults_and_aliases() -> None:
    config = CodeModeConfig()
    assert (config.enabled, config.runtime, config.mode) == ("auto", "quickjs", "only")
    assert config.languages == ("javascript", "typescript")
    assert config.search_default_limit == 8
    assert CodeModeConfig.parse({"runtime": "quickjs-wasi"}).runtime == "quickjs"
    assert CodeModeConfig.parse({"languages": ["typescript"]}).languages == ("typescript",)


@pytest.mark.req("cfg.1")
def test_the_default_search_limit_is_clamped_to_the_largest_one() -> None:
    config = CodeModeConfig.parse({"searchDefaultLimit": 40, "maxSearchLimit": 5})
    assert config.search_default_limit == 5


@pytest.mark.req("cfg.2")
@pytest.mark.parametrize("value", [True, False, "auto"])
def test_a_shorthand_stands_for_enabled(value: object) -> None:
    assert CodeModeConfig.parse(value) == CodeModeConfig.parse({"enabled": value})
    assert CodeModeConfig.parse(value).enabled == value


@pytest.mark.req("cfg.2")
@pytest.mark.parametrize("value", [None, {}, {"timeoutMs": 500}])
def test_without_enabled_it_is_auto(value: object) -> None:
    assert CodeModeConfig.parse(value).enabled == "auto"


@pytest.mark.req("cfg.3")
@pytest.mark.parametrize("name", TABLE)
def test_one_step_out_of_range_is_refused_with_field_value_and_range(name: str) -> None:
    camel, _, low, high = TABLE[name]
    for value in (low - 1, high + 1, -1):
        with pytest.raises(ConfigError) as caught:
            CodeModeConfig.parse({camel: value})
        for part in (camel, str(value), str(low), str(high)):
            assert part in str(caught.value)
        with pytest.raises(ConfigError, match=name):
            CodeModeConfig(**{name: value})


@pytest.mark.req("cfg.3")
@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"timeoutMs": "500"}, ("timeoutMs", "'500'", "integer")),
        ({"timeoutMs": 500.0}, ("timeoutMs", "500.0")),
        ({"timeoutMs": True}, ("timeoutMs", "True")),
        ({"timeoutMs": None}, ("timeoutMs", "None")),
        ({"timeoutms": 500}, ("timeoutms", "unknown", "timeoutMs")),
        ({1: 2}, ("1", "unknown")),
        ({"timeoutMs": 500, "timeout_ms": 600}, ("twice",)),
        ({"runtime": "v8"}, ("runtime", "v8", "quickjs")),
        ({"mode": "both"}, ("mode", "both", "only")),
        ({"languages": []}, ("languages", "[]", "non-empty")),
        ({"languages": ["python"]}, ("languages", "python")),
        ({"languages": "javascript"}, ("languages",)),
        ({"enabled": "yes"}, ("enabled", "yes", "auto")),
        ({"enabled": 1}, ("enabled", "1")),
        ("on", ("enabled", "on")),
        (3, ("3", "object")),
        ({"outputOverflow": "cut"}, ("outputOverflow", "cut", "truncate")),
        ({"nativeSource": "mcp"}, ("nativeSource", "mcp")),
    ],
)
def test_a_wrong_configuration_is_refused_by_name(given: object, words: tuple[str, ...]) -> None:
    with pytest.raises(ConfigError) as caught:
        CodeModeConfig.parse(given)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.req("cfg.4")
def test_an_agents_object_is_laid_over_the_global_one_key_by_key() -> None:
    base = CodeModeConfig.parse({"enabled": True, "timeoutMs": 500, "maxOutputBytes": 2048})
    merged = base.merge({"timeout_ms": 700})
    assert (merged.enabled, merged.timeout_ms, merged.max_output_bytes) == (True, 700, 2048)
    assert base.timeout_ms == 500
    assert base.merge(False).enabled is False
    assert base.merge(False).timeout_ms == 500
    assert base.merge(None) == base
    with pytest.raises(ConfigError, match="timeoutMs"):
        base.merge({"timeoutMs": 1})


def test_a_value_with_a_broken_repr_is_refused_all_the_same() -> None:
    class Odd:
        def __repr__(self) -> str:
            raise RuntimeError

    with pytest.raises(ConfigError, match="Odd"):
        CodeModeConfig.parse({"timeoutMs": Odd()})
