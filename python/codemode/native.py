"""The native extension, loaded when it is first needed."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import ModuleType


class RuntimeUnavailable(RuntimeError):
    """Code mode cannot run here, or a worker is gone; the text says why.

    Attributes:
        code: `"runtime_unavailable"`.
    """

    code = "runtime_unavailable"


@cache
def engine() -> Any:
    """The module `codemode._engine`.

    Raises:
        RuntimeUnavailable: It cannot be loaded.
    """
    module: ModuleType
    try:
        from . import _engine as module
    except ImportError as error:
        raise RuntimeUnavailable(f"the native extension cannot be loaded: {error}") from None
    return module
