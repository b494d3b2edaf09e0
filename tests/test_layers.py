"""A file imports only what lies before it in the flow."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import codemode

PACKAGE = Path(__file__).parent.parent / "python" / "codemode"

FLOW = [
    "native",
    "records",
    "config",
    "scope",
    "models",
    "tools",
    "blocks",
    "schemas",
    "conversion",
    "narrowing",
    "signature",
    "catalog",
    "activation",
    "surface",
    "guard",
    "policy",
    "eager",
    "trajectory",
    "debug",
    "telemetry",
    "inputs",
    "call",
    "raised",
    "executor",
    "direct",
    "answers",
    "worker",
    "engine",
    "store",
    "calls",
    "leg",
    "runner",
    "run",
    "session",
    "otel",
]
# `@tool` loads what reads signatures when it is used; nothing else looks ahead.
LATER = {("tools", "signature")}


def imports(module: str) -> set[str]:
    tree = ast.parse((PACKAGE / f"{module}.py").read_text("utf-8"))
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level == 1:
            names = [node.module] if node.module else [alias.name for alias in node.names]
            found.update(name.split(".")[0] for name in names)
    return found - {"_engine"}


@pytest.mark.parametrize("module", FLOW)
def test_a_module_imports_only_earlier_ones(module: str) -> None:
    earlier = set(FLOW[: FLOW.index(module)])
    late = {name for name in imports(module) - earlier if (module, name) not in LATER}
    assert late == set()


def test_every_module_has_its_place_in_the_flow() -> None:
    modules = {path.stem for path in PACKAGE.glob("*.py")} - {"__init__", "__main__"}
    assert modules == set(FLOW)


def test_every_public_name_can_be_had() -> None:
    for name in codemode.__all__:
        assert getattr(codemode, name) is not None
    with pytest.raises(AttributeError, match="nope"):
        _ = codemode.nope  # type: ignore[attr-defined]


def test_the_core_imports_nothing_that_stands_on_it() -> None:
    above = {"agent", "adapters", "extensions", "mcp", "cli"}
    assert {module: imports(module) & above for module in FLOW if imports(module) & above} == {}
