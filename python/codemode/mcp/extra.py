"""Whether what `pip install "codemode[mcp]"` brings is there."""

from __future__ import annotations

from importlib.util import find_spec


class ExtraMissing(ModuleNotFoundError):
    """The packages for MCP are not installed; says how to install them."""


def require_extra() -> None:
    """Looks, without importing them, which takes half a second.

    Raises:
        ExtraMissing: Something is not there.
    """
    for name in ("mcp", "anyio"):
        if find_spec(name) is None:
            words = f'MCP needs the package {name}; run: pip install "codemode[mcp]"'
            raise ExtraMissing(words, name=name)
