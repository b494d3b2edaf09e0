"""Python tools that a command line names as `module:attribute`."""

from __future__ import annotations

import importlib
import inspect
import sys
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from ..tools import Tool


class BadReference(Exception):
    """What was named cannot be used; one line for the person who named it."""


def load_tools(spec: str) -> list[Tool]:
    """Reads `module:attribute`; modules of the working directory can be named.

    Raises:
        BadReference: There is no such thing, or it is no tool.
    """
    try:
        return _tools(_found(spec), spec.partition(":")[2])
    except BadReference as error:
        raise BadReference(f"--tools {spec}: {error}") from error.__cause__


def _found(spec: str) -> Any:
    module_name, _, attribute = spec.partition(":")
    if not module_name or not attribute:
        raise BadReference("expected module:attribute")
    if "/" in module_name or module_name.startswith(".") or module_name.endswith(".py"):
        path = Path(module_name).with_suffix("")
        name = path.name if path.is_absolute() else ".".join(path.parts).strip(".")
        raise BadReference(f"expected a module as import takes it, {name}:{attribute}, not a path")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found: Any = importlib.import_module(module_name)
    except Exception as error:
        raise BadReference(f"{module_name} cannot be imported: {_words(error)}") from error
    for part in attribute.split("."):
        if not hasattr(found, part):
            there = [name for name, value in vars(found).items() if isinstance(value, Tool)]
            hint = f"; its tools: {', '.join(there[:10])}" if there else ""
            raise BadReference(f"{module_name} has no {part}{hint}")
        found = getattr(found, part)
    return found


def _tools(found: Any, name: str) -> list[Tool]:
    if isinstance(found, Tool):
        return [found]
    if callable(found):
        found, name = _made(found, name), f"{name}()"
        if isinstance(found, Tool):
            return [found]
    if not isinstance(found, Iterable) or isinstance(found, (str, bytes)):
        hint = f"; if {name[:-2]} is itself a tool, put @tool above it" if name[-2:] == "()" else ""
        raise BadReference(f"{name} is a {type(found).__name__}, no Tool and no list of them{hint}")
    listed = list(found)
    for item in listed:
        if not isinstance(item, Tool):
            what = getattr(item, "__name__", repr(item)[:80])
            raise BadReference(f"{name} holds {what}, which is no Tool; put @tool above a function")
    return listed


def _made(function: Callable[..., Any], name: str) -> Any:
    """What a function gives that makes tools, as opposed to one that should be a tool."""
    if inspect.iscoroutinefunction(function):
        raise BadReference(f"{name} is async; put @tool above it, or name a plain function")
    try:
        inspect.signature(function).bind()
    except TypeError:
        raise BadReference(f"{name} is a function with parameters; put @tool above it") from None
    except ValueError:
        pass  # it has no signature to look at
    try:
        return function()
    except Exception as error:
        raise BadReference(f"{name}() failed: {_words(error)}") from error


def _words(error: Exception) -> str:
    """The error in a line, with the place in the person's own code."""
    if isinstance(error, (ImportError, SyntaxError)):
        return str(error)
    frames = traceback.extract_tb(error.__traceback__)
    at = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    text = "".join(traceback.format_exception_only(type(error), error)).strip().splitlines()[0]
    return text + at
