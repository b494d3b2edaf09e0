"""Namespaces of plugins: a guest global with data and functions bound to the plugin's tools."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..call import GuestError

if TYPE_CHECKING:
    from ..call import Call
    from ..catalog import CatalogView
    from ..executor import Executor
    from ..tools import Tool

_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*\Z", re.ASCII)
_MOST_DEPTH = 8
# What the guest has already, what models expect, and what would not parse as a name.
_WORDS = """
ALL_TOOLS tools MCP namespaces API nodes text json yield_control agents phase log console
setTimeout setInterval setImmediate clearTimeout clearInterval queueMicrotask structuredClone
TextEncoder TextDecoder atob btoa URL URLSearchParams crypto performance globalThis self
window global undefined NaN Infinity eval isFinite isNaN parseFloat parseInt decodeURI
decodeURIComponent encodeURI encodeURIComponent escape unescape Object Function Array String
Number Boolean Symbol BigInt Math JSON Date RegExp Promise Proxy Reflect Map Set WeakMap
WeakSet WeakRef FinalizationRegistry Error EvalError RangeError ReferenceError SyntaxError
TypeError URIError AggregateError DOMException ArrayBuffer DataView Iterator Int8Array
Uint8Array Uint8ClampedArray Int16Array Uint16Array Int32Array Uint32Array BigInt64Array
BigUint64Array Float16Array Float32Array Float64Array Intl fetch XMLHttpRequest WebSocket
process module exports require Deno Bun std os SharedArrayBuffer Atomics exec wait codemode
openclaw functions __proto__ constructor prototype arguments await async break case catch
class const continue debugger default delete do else enum export extends false finally for
function if implements import in instanceof interface let new null package private protected
public return static super switch this throw true try typeof var void while with yield
"""
RESERVED = frozenset(_WORDS.split())


@dataclass(frozen=True, slots=True)
class Bind:
    """A function of a namespace that calls a tool.

    Attributes:
        tool: Name of a tool of the namespace's owner.
        positional: Names of the tool's parameters that the guest may also give by position, as
            in `ns.send("to", "text")`. Without any, the function takes one input object.
    """

    tool: str
    positional: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Namespace:
    """What a plugin registers (ns.2).

    Attributes:
        name: Global name in the guest.
        owner: Plugin id. All bound tools must be its own.
        scope: What the global is: a `Bind`, JSON data, or a mapping of names to such.
    """

    name: str
    owner: str
    scope: Any

    def __post_init__(self) -> None:
        """Checks the name and the scope.

        Raises:
            ValueError: The name is reserved or no identifier, or the data is no JSON.
        """
        if self.name in RESERVED or not _IDENTIFIER.match(self.name):
            raise ValueError(f"namespace {self.name!r}: the name is reserved or no identifier")
        _plan(self, self.scope, self.name, {}, 0)


class Namespaces:
    """The namespaces of a run. One whose tools are not all there is left out as a whole."""

    ops = frozenset({"namespace"})

    def __init__(self, namespaces: Iterable[Namespace]) -> None:
        """Shows `namespaces`.

        Raises:
            ValueError: Two have the same name.
        """
        self._plans: dict[str, tuple[Namespace, dict[str, Any]]] = {}
        self._binds: dict[str, tuple[Namespace, Bind]] = {}
        for namespace in namespaces:
            if namespace.name in self._plans:
                raise ValueError(f"namespace {namespace.name!r} is registered twice")
            found: dict[str, Bind] = {}
            plan = _plan(namespace, namespace.scope, namespace.name, found, 0)
            self._plans[namespace.name] = (namespace, plan)
            self._binds.update({key: (namespace, bind) for key, bind in found.items()})

    def globals(self, view: CatalogView) -> Mapping[str, Any]:
        """The plans of the namespaces that this run can serve."""
        missing = {
            namespace.name
            for namespace, bind in self._binds.values()
            if _tool(view, namespace, bind) is None
        }
        shown = {name: plan for name, (_, plan) in self._plans.items() if name not in missing}
        return {"namespaces": shown}

    def fetch(self, kind: int, argument: str, view: CatalogView) -> Any:  # noqa: ARG002
        """Nothing is fetched."""
        return NotImplemented

    async def call(self, call: Call, executor: Executor, view: CatalogView) -> Any:
        """Serves a bound function.

        Raises:
            GuestError: There is no such function, or the tool failed.
        """
        known = self._binds.get(call.target)
        found = None if known is None else _tool(view, *known)
        if known is None or found is None:
            raise GuestError(f"There is no namespace function {call.target[:80]!r} in this run.")
        args = call.arguments if isinstance(call.arguments, list) else []
        call.arguments = _input(call.target, known[1], args)
        return await executor.call_tool(call, *found, view)


def _tool(view: CatalogView, namespace: Namespace, bind: Bind) -> tuple[str, Tool] | None:
    found = [
        (tool_id, tool)
        for tool_id, tool in view.guest
        if tool.is_native and tool.owner == namespace.owner and tool.name == bind.tool
    ]
    return found[0] if len(found) == 1 else None


def _input(name: str, bind: Bind, args: list[Any]) -> Any:
    # One object stands for all parameters, unless the first one itself takes an object.
    if not bind.positional or (len(args) == 1 and len(bind.positional) > 1 and _is_object(args)):
        if len(args) > 1:
            raise GuestError(f"{name} takes one input object, not {len(args)} arguments.")
        return args[0] if args else {}
    if len(args) > len(bind.positional):
        raise GuestError(f"{name} takes at most {len(bind.positional)} arguments.")
    return dict(zip(bind.positional, args, strict=False))


def _is_object(args: list[Any]) -> bool:
    return isinstance(args[0], Mapping)


def _plan(
    namespace: Namespace, scope: Any, path: str, binds: dict[str, Bind], depth: int
) -> dict[str, Any]:
    """The form in which the guest is told of a scope; `binds` receives its functions by path.

    Raises:
        ValueError: A name is reserved, the data is no JSON, or it is too deep.
    """
    if depth > _MOST_DEPTH:
        raise ValueError(f"namespace {namespace.name!r}: deeper than {_MOST_DEPTH} levels")
    if isinstance(scope, Bind):
        binds[path] = scope
        return {"call": path}
    if isinstance(scope, Mapping):
        members = []
        for key, value in scope.items():
            # `then` would make the namespace look like a promise.
            if not isinstance(key, str) or key in ("__proto__", "then", "constructor"):
                raise ValueError(f"namespace {namespace.name!r}: {key!r} cannot be a member")
            members.append([key, _plan(namespace, value, f"{path}.{key}", binds, depth + 1)])
        return {"members": members}
    try:
        return {"data": json.loads(json.dumps(scope, allow_nan=False))}
    except (TypeError, ValueError) as error:
        raise ValueError(f"namespace {namespace.name!r}: {path} is no JSON ({error})") from error
