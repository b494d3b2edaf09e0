"""Code mode: models write a program instead of single tool calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .activation import Activation, ModelRow
    from .call import GuestError
    from .config import CodeModeConfig, ConfigError
    from .executor import Extension
    from .guard import PayloadRefused, guard_payload
    from .models import Completed, Failed, PendingCall, Result, Waiting
    from .native import RuntimeUnavailable
    from .policy import Block, CallEvent, Change, Hooks, NeedsApproval, Policy, Replace
    from .run import CodeModeRun
    from .scope import Scope
    from .session import CodeMode
    from .surface import ModelTool
    from .tools import Tool, ToolContext, ToolResult, tool
    from .trajectory import Trajectory

__version__ = "0.1.0"

_WHERE = {
    "activation": ("Activation", "ModelRow"),
    "config": ("CodeModeConfig", "ConfigError"),
    "call": ("GuestError",),
    "executor": ("Extension",),
    "guard": ("PayloadRefused", "guard_payload"),
    "models": ("Completed", "Failed", "PendingCall", "Result", "Waiting"),
    "native": ("RuntimeUnavailable",),
    "policy": ("Block", "CallEvent", "Change", "Hooks", "NeedsApproval", "Policy", "Replace"),
    "scope": ("Scope",),
    "run": ("CodeModeRun",),
    "session": ("CodeMode",),
    "surface": ("ModelTool",),
    "tools": ("Tool", "ToolContext", "ToolResult", "tool"),
    "trajectory": ("Trajectory",),
}
_MODULE_OF = {name: module for module, names in _WHERE.items() for name in names}

__all__ = [
    "Activation",
    "Block",
    "CallEvent",
    "Change",
    "CodeMode",
    "CodeModeConfig",
    "CodeModeRun",
    "Completed",
    "ConfigError",
    "Extension",
    "Failed",
    "GuestError",
    "Hooks",
    "ModelRow",
    "ModelTool",
    "NeedsApproval",
    "PayloadRefused",
    "PendingCall",
    "Policy",
    "Replace",
    "Result",
    "RuntimeUnavailable",
    "Scope",
    "Tool",
    "ToolContext",
    "ToolResult",
    "Trajectory",
    "Waiting",
    "guard_payload",
    "tool",
]


def __getattr__(name: str) -> Any:
    """Loads a name when it is first used, so that importing the package costs next to nothing."""
    module = _MODULE_OF.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"{__name__}.{module}"), name)
    globals()[name] = value
    return value
