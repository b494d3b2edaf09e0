"""What a tool raised: whether it is the tool's own affair, and in which words the guest gets it."""

from __future__ import annotations

import asyncio
import re

_SHOWN_INNER = 5
_SHOWN_DEPTH = 3


def said(error: BaseException, tool_id: str, depth: int = 0) -> str:
    """What an exception has to say; where that is little, also of which kind it is."""
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 -- a tool's own `__str__`
        text = ""
    inner = getattr(error, "exceptions", None)
    if isinstance(inner, tuple) and depth < _SHOWN_DEPTH:
        # An exception group says only how many it holds.
        texts = [text, *(said(one, tool_id, depth + 1) for one in inner[:_SHOWN_INNER])]
        return "; ".join(filter(None, texts))
    if isinstance(error, (TimeoutError, asyncio.TimeoutError)) and not text:
        return f"{tool_id} timed out."
    if isinstance(error, KeyError) and type(error).__str__ is KeyError.__str__ and error.args:
        return f"there is no key {text}"
    if any(map(str.isalpha, text)):
        return text
    failed = f"{tool_id} failed{_kind_of(error)}"
    return f"{failed}: {text}" if text else f"{failed} without a message."


def _kind_of(error: BaseException) -> str:
    """The kind in words, ` (not implemented error)`; of classes only those of Python itself."""
    kind = next(kind for kind in type(error).__mro__ if kind.__module__ == "builtins")
    if kind in (Exception, BaseException):
        return ""
    return f" ({re.sub('(?<=[a-z])(?=[A-Z])', ' ', kind.__name__).lower()})"


def is_for_the_host(error: BaseException) -> bool:
    """Whether it came through a tool, not from it."""
    if isinstance(error, GeneratorExit):
        # This coroutine is being closed: then the tool's own frames are gone already.
        return error.__traceback__ is None or error.__traceback__.tb_next is None
    if isinstance(error, KeyboardInterrupt):
        import signal
        import threading

        # Where nobody took the signal over, a person's Ctrl-C is raised in whatever runs.
        return (
            threading.current_thread() is threading.main_thread()
            and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        )
    return False
