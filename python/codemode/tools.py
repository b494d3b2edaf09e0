"""Tools of the host: what embedders give to a run."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, overload

from .records import field, record

if TYPE_CHECKING:
    from .scope import Scope

MCP = "mcp"
CLIENT = "client"

Execute = Callable[[Any, "ToolContext"], Any]


class ToolContext:
    """What a tool may know of the call it serves.

    Attributes:
        call_id: Id of this call, unique within the run.
        parent_call_id: Id of the exec call whose guest made it; None for a direct call.
        scope: The run's scope.
        tool_id: Catalog id.
    """

    __slots__ = (
        "_aborted",
        "_is_over",
        "_on_update",
        "call_id",
        "parent_call_id",
        "scope",
        "tool_id",
    )

    def __init__(
        self,
        *,
        call_id: str,
        scope: Scope,
        parent_call_id: str | None = None,
        tool_id: str = "",
        on_update: Callable[[Any], None] | None = None,
    ) -> None:
        """Made by the executor; make one yourself only to test a tool."""
        self.call_id = call_id
        self.parent_call_id = parent_call_id
        self.scope = scope
        self.tool_id = tool_id
        self._on_update = on_update
        self._aborted: asyncio.Event | None = None
        self._is_over = False

    @property
    def aborted(self) -> asyncio.Event:
        """Set when the cell was aborted; the tool's task is cancelled at the same time."""
        if self._aborted is None:
            self._aborted = asyncio.Event()
            if self._is_over:
                self._aborted.set()
        return self._aborted

    def abort(self) -> None:
        """Marks the call as aborted."""
        self._is_over = True
        if self._aborted is not None:
            self._aborted.set()

    def update(self, partial: Any) -> None:
        """Streams a partial result to the host's listeners; the guest does not see it.

        Args:
            partial: Anything the host's `on_event` can use.
        """
        if self._on_update is not None:
            self._on_update(partial)


class WrongInput(ValueError):
    """A tool has not run, because its input cannot be used; the text names the field."""


_ABSENT: Any = object()


@record(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """A result with content blocks besides its structured value.

    Attributes:
        content: Blocks for a model, `{"type": "text", "text": …}` and the like.
        details: The structured value that `callValue` gives; without it the guest gets
            `{content, isError?}`.
        is_error: The tool reports a failure in its own words.
    """

    content: list[Any] = field(default_factory=list)
    details: Any = _ABSENT
    is_error: bool = False

    @property
    def has_details(self) -> bool:
        """Whether a structured value was given (it may be None)."""
        return self.details is not _ABSENT

    @property
    def value(self) -> Any:
        """`details`, or the whole result as JSON if there is none."""
        return self.details if self.has_details else self.to_dict()

    def to_dict(self) -> dict[str, Any]:
        """JSON shape: `{content, details?, isError?}`."""
        out: dict[str, Any] = {"content": self.content}
        if self.has_details:
            out["details"] = self.details
        if self.is_error:
            out["isError"] = True
        return out


@record(frozen=True, slots=True, kw_only=True, eq=False)
class Tool:
    """One tool. Compared by identity; its schemas are copied as text when it is made.

    Attributes:
        name: Name that the model knows. A blank name is dropped from catalogs with a warning.
        description: What it does, for search and describe.
        parameters: JSON Schema of the input, normally of an object; None means not stated.
        execute: `execute(input, ctx)`, async or plain. A plain function runs on the event loop
            and blocks it for as long as it runs. Gives the value, or a `ToolResult`.
        output_schema: JSON Schema of the value (`details`); only for native tools. It is
            enforced, and shown in the prompt if it is closed and small.
        owner: Plugin id, MCP server or client name. Defaults to `core` for native tools and
            `app` for client tools; needed for MCP.
        source: None for native tools, `"mcp"` or `"client"`.
        label: Display name.
        direct_only: The result cannot cross a JSON bridge (images): the model sees the tool
            itself, the guest does not.
        replay_safe: Reads only, and may be called again: allowed in restart-safe cells.
    """

    name: str
    description: str = ""
    parameters: Any = None
    execute: Execute
    output_schema: Any = None
    owner: str | None = None
    source: str | None = None
    label: str | None = None
    direct_only: bool = False
    replay_safe: bool = False
    parameters_json: str | None = field(init=False, repr=False, default=None)
    output_json: str | None = field(init=False, repr=False, default=None)

    def __post_init__(self) -> None:
        """Checks the arguments.

        Raises:
            TypeError: An argument has the wrong type.
            ValueError: A schema is no JSON, `source` or `owner` do not fit.
        """
        for name in ("name", "description"):
            if not isinstance(getattr(self, name), str):
                raise TypeError(f"Tool {name} must be a string, not {getattr(self, name)!r}")
        if not callable(self.execute):
            raise TypeError(f"Tool {self.name!r}: execute must be callable")
        for name in ("owner", "source", "label"):
            value = getattr(self, name)
            if value is not None and not isinstance(value, str):
                raise TypeError(f"Tool {self.name!r}: {name} must be a string or None")
        if self.source == MCP and not self.owner:
            raise ValueError(f"Tool {self.name!r}: owner must name the MCP server")
        put = object.__setattr__
        if self.owner is None:
            put(self, "owner", "app" if self.source == CLIENT else "core")
        put(self, "parameters_json", self._schema_json("parameters"))
        put(self, "output_json", self._schema_json("output_schema"))

    def _schema_json(self, name: str) -> str | None:
        schema = getattr(self, name)
        if schema is None:
            return None
        if not isinstance(schema, Mapping) and self.source is None:
            raise TypeError(f"Tool {self.name!r}: {name} must be a JSON Schema object")
        try:
            return json.dumps(schema, separators=(",", ":"), allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            raise ValueError(f"Tool {self.name!r}: {name} is not JSON: {error}") from error

    @property
    def is_native(self) -> bool:
        """Whether it is the host's own or a plugin's, neither MCP nor client."""
        return self.source not in (MCP, CLIENT)


@overload
def tool(function: Callable[..., Any], /) -> Tool: ...
@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    owner: str | None = None,
    label: str | None = None,
    output_schema: Any = None,
    direct_only: bool = False,
    replay_safe: bool = False,
) -> Callable[[Callable[..., Any]], Tool]: ...
def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    owner: str | None = None,
    label: str | None = None,
    output_schema: Any = None,
    direct_only: bool = False,
    replay_safe: bool = False,
) -> Tool | Callable[[Callable[..., Any]], Tool]:
    """Makes a `Tool` of a function.

    Name and description come from the function and its docstring (Google style: the text before
    the first section, and `Args:`), parameters from its annotations, the output schema from the
    return annotation if that describes the whole value and is closed (dataclass, TypedDict,
    pydantic model, lists of these, scalars).

    Args:
        function: Async or plain. A plain function runs on the event loop. A parameter annotated
            `ToolContext` receives the context and is no part of the schema.
        name: Instead of the function's name.
        description: Instead of the docstring's text.
        owner: Plugin id; `core` if not given.
        label: Display name.
        output_schema: JSON Schema instead of the one from the return annotation.
        direct_only: See `Tool`.
        replay_safe: See `Tool`.

    Raises:
        TypeError: A parameter has no JSON form; the error names it.
    """
    # Annotations are text; classes that are local to the caller are found in its frame.
    names = dict(sys._getframe(1).f_locals)  # noqa: SLF001

    def make(f: Callable[..., Any]) -> Tool:
        from .signature import read_signature

        read = read_signature(f, names, name)
        return Tool(
            name=read.name,
            description=read.description if description is None else description,
            parameters=read.parameters,
            execute=read.execute,
            output_schema=output_schema if output_schema is not None else read.output_schema,
            owner=owner,
            label=label,
            direct_only=direct_only,
            replay_safe=replay_safe,
        )

    if function is None:
        return make
    if not callable(function):
        raise TypeError("@tool takes a function; other settings are keyword arguments")
    return make(function)
