"""Code mode for servers of FastMCP: its `CodeMode` transform with JavaScript programs.

    mcp = FastMCP("port", transforms=[JavaScriptCodeMode()])

`CodeModeSandbox` alone is the sandbox provider, for a `CodeMode` transform of your own.
"""

from __future__ import annotations

import asyncio
import inspect
from typing import TYPE_CHECKING, Any

from fastmcp.exceptions import ToolError
from fastmcp.experimental.transforms.code_mode import CodeMode as CodeModeTransform

from ..extensions.namespaces import Bind, Namespace, Namespaces
from ..models import Completed, Waiting
from ..session import CodeMode
from ..tools import Tool

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from fastmcp.server.transforms import GetToolNext
    from fastmcp.tools.base import Tool as ServerTool
    from fastmcp.utilities.versions import VersionSpec

_OWNER = "fastmcp"
# As many parameters as a function with `*args` is given a name for.
_MOST_ARGUMENTS = 16
DESCRIPTION = (
    "Run a JavaScript or TypeScript program, the body of an async function, and give what it "
    "returns. `await call_tool(name, params)` calls a tool and gives its structured content, or "
    "its text; a failed call throws. Nothing else can be reached: no files, network or modules. "
    "Chain calls in one program, in parallel with Promise.all, and return the final answer."
)


class CodeModeSandbox:
    """Runs programs for `fastmcp.experimental.transforms.code_mode.CodeMode`.

    There is no way to wait there, so a program that waits for its tools is continued inside of
    the call.
    """

    def __init__(
        self, cm: CodeMode | None = None, *, config: Any = None, max_seconds: float = 300.0
    ) -> None:
        """Starts nothing.

        Args:
            cm: Where programs run; without one, each program makes its own. Share one in a
                service: its processes are warm then.
            config: Limits, as for `CodeMode`; `timeoutMs` is what one program may compute
                between two waits for its tools.
            max_seconds: Wall clock of one program with all its tools.
        """
        self._cm = cm
        self._config = {"enabled": True} if config is None else config
        self._max_seconds = max_seconds

    async def run(
        self,
        code: str,
        *,
        inputs: dict[str, Any] | None = None,
        external_functions: dict[str, Callable[..., Any]] | None = None,
    ) -> Any:
        """Runs a program.

        Args:
            code: JavaScript or TypeScript.
            inputs: Global constants, JSON data.
            external_functions: Global async functions.

        Returns:
            What the program returns.

        Raises:
            ToolError: It failed, or took too long; the text is for the model.
            ValueError: A name of an input or a function is reserved, or an input is no JSON.
        """
        functions = external_functions or {}
        spaces = [
            *(Namespace(name=n, owner=_OWNER, scope=_bind(n, f)) for n, f in functions.items()),
            *(Namespace(name=n, owner=_OWNER, scope=v) for n, v in (inputs or {}).items()),
        ]
        tools = [_tool(name, function) for name, function in functions.items()]
        running = self._run(code, tools, Namespaces(spaces))
        try:
            return await asyncio.wait_for(running, self._max_seconds)
        except asyncio.TimeoutError:
            text = f"The program was ended: it took longer than {self._max_seconds:g} s in all."
            raise ToolError(text) from None

    async def _run(self, code: str, tools: list[Tool], spaces: Namespaces) -> Any:
        cm = self._cm or CodeMode(self._config)
        try:
            async with cm.run(tools, config=self._config, extensions=[spaces]) as run:
                result = await run.exec({"code": code})
                while isinstance(result, Waiting):
                    result = await run.wait({"runId": result.run_id})
        finally:
            if cm is not self._cm:
                await cm.close()
        if isinstance(result, Completed):
            return result.value
        raise ToolError(result.error)


class JavaScriptCodeMode(CodeModeTransform):
    """FastMCP's `CodeMode` transform over this sandbox, with texts that ask for JavaScript."""

    def __init__(
        self,
        cm: CodeMode | None = None,
        *,
        execute_description: str = DESCRIPTION,
        **options: Any,
    ) -> None:
        """Makes the transform.

        Args:
            cm: As for `CodeModeSandbox`.
            execute_description: What the model reads of the execute tool.
            options: Those of FastMCP's transform.
        """
        options.setdefault("sandbox_provider", CodeModeSandbox(cm))
        super().__init__(execute_description=execute_description, **options)

    async def transform_tools(self, tools: Sequence[ServerTool]) -> Sequence[ServerTool]:
        """The discovery tools and execute."""
        return [self._reworded(tool) for tool in await super().transform_tools(tools)]

    async def get_tool(
        self, name: str, call_next: GetToolNext, *, version: VersionSpec | None = None
    ) -> ServerTool | None:
        """One of them, or a tool of the server."""
        tool = await super().get_tool(name, call_next, version=version)
        return None if tool is None else self._reworded(tool)

    def _reworded(self, tool: ServerTool) -> ServerTool:
        # The transform's own text for `code` asks for Python.
        if tool.name != self.execute_tool_name:
            return tool
        code = {"type": "string", "description": "The program. Code only, no Markdown fence."}
        properties = {**tool.parameters["properties"], "code": code}
        return tool.model_copy(update={"parameters": {**tool.parameters, "properties": properties}})


def _tool(name: str, function: Callable[..., Any]) -> Tool:
    names, is_open = _names(function)

    async def execute(given: Mapping[str, Any], _ctx: Any) -> Any:
        unknown = [key for key in given if key not in names]
        if unknown and not is_open:
            raise TypeError(f"{name} takes {', '.join(names) or 'nothing'}; got {unknown[0]!r}")
        if is_open:
            # An object that is not made of places is itself the only argument.
            result = function(given) if unknown else function(*given.values())
        else:
            result = function(**given)
        return await result if inspect.isawaitable(result) else result

    return Tool(name=name, execute=execute, owner=_OWNER)


def _bind(name: str, function: Callable[..., Any]) -> Bind:
    return Bind(name, _names(function)[0])


def _names(function: Callable[..., Any]) -> tuple[tuple[str, ...], bool]:
    """Names of the parameters, and whether they can only be given by position."""
    parameters = inspect.signature(function).parameters
    by_place = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.POSITIONAL_ONLY)
    if any(parameter.kind in by_place for parameter in parameters.values()):
        return tuple(f"arg{number}" for number in range(1, _MOST_ARGUMENTS + 1)), True
    return tuple(parameters), False
