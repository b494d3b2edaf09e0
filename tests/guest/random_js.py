"""Random literals for generated programs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from random import Random

WORDS = (
    "alpha", "Beta", "gamma ray", "δέλτα", "naïve", "über", "emoji 😀!", "a-b_c", "x,y;z", "  pad ",
    "tab\there", "line\nbreak", "quo\"te", "it's", "", "0", "-12.5", "1e3", "ÇA", "日本語",
)  # fmt: skip


def js(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def word(r: Random) -> str:
    return js(r.choice(WORDS))


def whole(r: Random, limit: int = 100) -> int:
    return r.randint(-limit, limit)


def wholes(r: Random, n: int, limit: int = 50) -> str:
    return js([whole(r, limit) for _ in range(n)])


def number(r: Random) -> str:
    choice = r.randrange(6)
    if choice == 0:
        return str(r.choice([0, -1, 2**31, 2**32 - 1, 2**53 - 1, "-0", "1e21", "5e-324", "0.1"]))
    if choice == 1:
        return repr(r.uniform(-1e6, 1e6))
    if choice == 2:
        return repr(r.uniform(-1, 1) * 10 ** r.randint(-12, 24))
    return str(whole(r, 1000))
