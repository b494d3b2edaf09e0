"""Programs as models write them: each file of tests/guest on both routes."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests.guest.catalog import demo_tools

from codemode import Completed, Failed, Result, Waiting

CELLS = Path(__file__).parent / "guest"
MAX_WAITS = 200
MARK = "// ---\n"
KNOWN = {
    "status", "value", "output", "warnings", "error", "code", "limit", "line", "toolCalls",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    name: str
    code: str
    requirements: tuple[str, ...]
    expect: dict[str, Any]
    request: dict[str, Any] = field(default_factory=dict)
    config: dict[str, Any] = field(default_factory=dict)


def read(path: Path) -> Case:
    head, mark, code = path.read_text("utf-8").partition(MARK)
    assert mark, f"{path.name}: no line {MARK!r}"
    fields: dict[str, str] = {}
    for line in head.split("\n")[:-1]:
        assert line.startswith("// @"), f"{path.name}: {line!r}"
        name, _, value = line[4:].partition(" ")
        fields[name] = value
    expect = json.loads(fields.pop("expect"))
    assert expect.keys() <= KNOWN, f"{path.name}: {expect.keys() - KNOWN}"
    assert fields.pop("title")
    if fields.pop("encoding", "") == "json":
        code = json.loads(code)
    language = fields.pop("language", "")
    case = Case(
        name=path.name,
        code=code,
        requirements=tuple(fields.pop("req").split()),
        expect=expect,
        request={"language": language} if language else {},
        config=json.loads(fields.pop("config", "{}")),
    )
    assert not fields, f"{path.name}: unknown {list(fields)}"
    return case


CASES = [read(p) for p in sorted(CELLS.iterdir()) if p.suffix in (".js", ".ts")]


def plain(item: Any) -> Any:
    """An output item as the files spell it."""
    return item["text"] if item["type"] == "text" else {"json": item["value"]}


def check(case: Case, result: Result, output: list[Any], warnings: list[str]) -> None:
    expect = case.expect
    seen = {**result.to_dict(), "output": output, "warnings": warnings}
    assert result.status == expect["status"], seen
    if "output" in expect:
        assert [plain(item) for item in output] == expect["output"]
    for text in expect.get("warnings", ()):
        assert any(text in w for w in warnings), seen
    if isinstance(result, Completed):
        if "warnings" not in expect:
            assert warnings == []
        # As text, so that 1, 1.0 and true differ.
        got, wanted = (json.dumps(v, sort_keys=True) for v in (result.value, expect["value"]))
        assert got == wanted
        return
    assert isinstance(result, Failed)
    for text in expect.get("error", ()):
        assert text in result.error, seen
    for name in ("code", "limit"):
        if name in expect:
            assert getattr(result, name) == expect[name], seen
    if "line" in expect:
        assert result.location is not None, seen
        assert seen["location"]["line"] == expect["line"], seen
    if "toolCalls" in expect:
        assert len(result.tool_calls) == expect["toolCalls"]


def test_the_corpus_is_large() -> None:
    assert len(CASES) >= 200


@pytest.mark.req("exe.5", "exe.6", "exe.7", "exe.8", "gst.1", "gst.2", "gst.3", "gst.4", "gst.5")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
async def test_a_cell_has_its_result(case: Case, make_run: Any) -> None:
    run = make_run(demo_tools(), config=case.config)
    result = await run.exec({"code": case.code, **case.request}, call_id="c0")
    output, warnings = list(result.output), list(result.warnings)
    for n in range(MAX_WAITS):
        if not isinstance(result, Waiting):
            break
        result = await run.wait({"runId": result.run_id}, call_id=f"c{n + 1}")
        output += result.output
        warnings += result.warnings
    check(case, result, output, warnings)
