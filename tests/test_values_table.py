"""The table in docs/values.md is what the product does: it is made by running each row."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from codemode import CodeMode, Tool

DOC = Path(__file__).parent.parent / "docs" / "values.md"

GUEST_TO_HOST = [
    ("null, undefined alone", "undefined"),
    ("undefined in an object", "({ a: undefined, b: 1 })"),
    ("undefined in an array", "[undefined]"),
    ("integer", "9007199254740991"),
    ("other number", "1.5"),
    ("-0", "-0"),
    ("NaN, infinities", "[NaN, -Infinity]"),
    ("BigInt", "10n ** 20n"),
    ("string with a lone surrogate", "'a\\ud800b'"),
    ("Date", "new Date(0)"),
    ("invalid Date", "new Date(NaN)"),
    ("Map with string keys", "new Map([['a', 1]])"),
    ("other Map", "new Map([[1, 'x']])"),
    ("Set", "new Set([1, 2])"),
    ("typed array", "new Int8Array([-1, 2])"),
    ("ArrayBuffer", "new Uint8Array([1, 255]).buffer"),
    ("Error", "Object.assign(new TypeError('no'), { code: 7 })"),
    ("DOMException", "new DOMException('no', 'AbortError')"),
    ("iterator", "[1, 2].values()"),
    ("Proxy of an array", "new Proxy([1], {})"),
    ("RegExp", "/a+/gi"),
    ("URL", "new URL('https://example.test/a?b=1')"),
    ("function", "[function add() {}]"),
    ("class", "(class Point {})"),
    ("symbol", "Symbol('s')"),
    ("promise in a value", "({ p: Promise.resolve(1) })"),
    ("boxed primitive", "[new Number(1), new String('s')]"),
    ("class instance", "new (class { x = 1; #y = 2; get z() { return 3; } })()"),
    ("keys __proto__ and toJSON", """JSON.parse('{"__proto__":1,"toJSON":2}')"""),
    ("method toJSON", "({ toJSON() { return 1; } })"),
    ("cycle", "(() => { const o = { a: [] }; o.a.push(o); return o; })()"),
    (
        "deeper than 512",
        "(() => { let a = []; for (let i = 0; i < 600; i++) a = [a]; return a; })()",
    ),
]


async def _give_back(arguments: dict[str, Any], _context: Any) -> Any:
    return arguments["value"]


async def _rows() -> list[str]:
    rows = []
    async with CodeMode({"enabled": True}) as cm:
        run = cm.run([Tool(name="back", execute=_give_back)])
        for what, expression in GUEST_TO_HOST:
            result = (await run.exec({"code": f"return {expression};"})).to_dict()
            if result["status"] == "completed":
                told = json.dumps(result["value"], ensure_ascii=False)
                warned = result.get("warnings", [])
            else:
                told, warned = f"error: {result['error'].splitlines()[0]}", []
            note = "; ".join(w for w in warned if "returned nothing" not in w)
            cells = (what, f"`{expression}`", f"`{told}`", note)
            rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return rows


@pytest.mark.req("gst.4")
async def test_the_documented_table_is_what_happens() -> None:
    head = DOC.read_text("utf-8").split("<!-- table -->")[0]
    table = "| value | for example | arrives as | warning |\n|---|---|---|---|\n"
    made = f"{head}<!-- table -->\n\n{table}" + "\n".join(await _rows()) + "\n"
    if os.environ.get("CODEMODE_WRITE_DOCS"):
        DOC.write_text(made, "utf-8")
    assert DOC.read_text("utf-8") == made, "run the test with CODEMODE_WRITE_DOCS=1"
