"""Guest programs that all engines run, as expressions, with their right answers."""

from __future__ import annotations

from typing import Any

FIB = "const fib = n => n < 2 ? n : fib(n - 1) + fib(n - 2); {return} fib(27)"
JSON_MB = (
    "const rows = []; for (let i = 0; i < 14000; i++) rows.push({id: i, name: 'row ' + i, "
    "tags: ['a', 'b'], ok: true, score: i / 7}); const s = JSON.stringify(rows); "
    "{return} [s.length > 1e6, JSON.parse(s).length]"
)
STRING_MB = "{return} 'abcdefgh'.repeat(131072)"
ROWS = "{return} Array.from({length: 10000}, (_, i) => ({id: i, name: 'row ' + i, v: i / 3}))"
# Name of the row, program, test of the answer.
SHARED: dict[str, tuple[str, Any]] = {
    "fib": (FIB, lambda v: v == 196418),
    "json": (JSON_MB, lambda v: list(v) == [True, 14000]),
    "string_mb": (STRING_MB, lambda v: len(v) == 1 << 20),
    "rows": (ROWS, lambda v: len(v) == 10000 and v[-1]["name"] == "row 9999"),
}
