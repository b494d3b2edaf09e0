"""Rules and tests are tied to each other, in both directions."""

from __future__ import annotations

import ast
from pathlib import Path

from tests.requirements import REQUIREMENTS

TESTS = Path(__file__).parent


def marked() -> dict[str, set[str]]:
    """Rule ids by the file that names them."""
    found: dict[str, set[str]] = {}
    for path in TESTS.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
                continue
            if node.func.attr == "req":
                for argument in node.args:
                    if isinstance(argument, ast.Constant):
                        found.setdefault(str(argument.value), set()).add(path.name)
    return found


def test_every_id_that_a_test_names_is_a_rule() -> None:
    unknown = {rule: files for rule, files in marked().items() if rule not in REQUIREMENTS}
    assert unknown == {}


def test_every_rule_is_proved_by_a_test() -> None:
    assert sorted(set(REQUIREMENTS) - set(marked())) == []
