from __future__ import annotations

import asyncio
import math
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codemode import CodeMode, Tool

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**200), 2**200),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters()),
    st.sampled_from([2**53, -(2**53), 2**53 - 1, 2**63, -1, 0, "\ud800", "a\udc00b", "__proto__"]),
)
KEYS = st.one_of(
    st.text(max_size=8), st.sampled_from(["__proto__", "toJSON", "constructor", "then", "0", ""])
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=5), st.dictionaries(KEYS, inner, max_size=5)),
    max_leaves=20,
)


def expected(value: Any) -> Any:
    """What comes back: the same, but for lone surrogates and the order of index-like keys."""
    if isinstance(value, str):
        return "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in value)
    if isinstance(value, list):
        return [expected(item) for item in value]
    if isinstance(value, dict):
        return {expected(key): expected(item) for key, item in value.items()}
    return value


def same(a: Any, b: Any) -> bool:
    if isinstance(a, float) and isinstance(b, (int, float)) and not isinstance(b, bool):
        return math.isclose(a, b, rel_tol=0, abs_tol=0)
    if isinstance(a, list):
        return isinstance(b, list) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return isinstance(b, dict) and set(a) == set(b) and all(same(a[k], b[k]) for k in a)
    return type(a) is type(b) and bool(a == b)


@pytest.mark.req("gst.4")
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(values=st.lists(VALUES, min_size=1, max_size=10))
def test_a_value_of_python_is_the_same_after_host_guest_host(values: list[Any]) -> None:
    async def cross() -> None:
        received: list[Any] = []

        async def give(_arguments: Any, _context: Any) -> Any:
            return values

        async def take(arguments: dict[str, Any], _context: Any) -> None:
            received.append(arguments["got"])

        tools = [Tool(name="give", execute=give), Tool(name="take", execute=take)]
        async with CodeMode({"enabled": True, "maxOutputBytes": 1 << 20}) as cm:
            program = "const got = await tools.give(); await tools.take({ got }); return got"
            result = await cm.run(tools).exec({"code": program})
        assert result.status == "completed", result.to_dict()
        for back in (result.value, received[0]):
            assert same([expected(v) for v in values], back)

    asyncio.run(cross())
