"""What a hostile program is, and what may come of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from codemode import Completed, Failed, Result

MIB = 1 << 20

# Outcomes, as `code` and `limit` of a failure.
DONE = "completed"
TIME = "timeout/time"
MEMORY = "internal_error/memory"
STACK = "internal_error/stack"
THROWN = "internal_error/-"
OUTPUT = "output_limit_exceeded/output"
SNAPSHOT = "snapshot_limit_exceeded/snapshot"
REFUSED = "invalid_input/-"
SOURCE = "invalid_input/source"


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A program that means harm.

    Attributes:
        name: Unique in the corpus.
        code: What the model sent.
        allowed: Outcomes that are right.
        value: What it must give if it completes; None means not compared.
        timeout_ms: Its deadline.
        memory: Its memory limit, bytes.
        language: What the model said it is.
        slow: Only in the long run.
    """

    name: str
    code: str
    allowed: frozenset[str]
    value: Any = None
    timeout_ms: int = 150
    memory: int = 16 * MIB
    language: str = "javascript"
    slow: bool = False


def program(name: str, code: str, *allowed: str, **more: Any) -> Program:
    """A `Program` with less to write."""
    return Program(name=name, code=code, allowed=frozenset(allowed), **more)


def outcome(result: Result) -> str:
    """The outcome of a result, in the words of this module."""
    if isinstance(result, Completed):
        return DONE
    if isinstance(result, Failed):
        return f"{result.code}/{result.limit or '-'}"
    return f"waiting/{result.reason}"
