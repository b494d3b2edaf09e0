"""Generates pure programs whose JSON text must be the same in every engine."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from tests.guest import language, web

if TYPE_CHECKING:
    from collections.abc import Callable

FAMILIES: tuple[Callable[[Random], str], ...] = (
    language.arithmetic,
    language.strings,
    language.arrays,
    language.destructuring,
    language.classes,
    language.generators,
    language.regexes,
    language.collections,
    language.json_text,
    language.dates,
    language.control_flow,
    language.templates,
    language.bigints,
    language.promises,
    language.sorting,
    web.urls,
    web.locales,
    web.encodings,
)


def programs(count: int, seed: int) -> list[tuple[str, str]]:
    """`count` pairs of a name and a program, the same ones for the same seed."""
    out = []
    for i in range(count):
        family = FAMILIES[i % len(FAMILIES)]
        body = family(Random(f"{seed}:{i}"))
        out.append((f"{family.__name__}-{seed}-{i}", body))
    return out
