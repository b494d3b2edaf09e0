"""Code mode for agents of pydantic-ai.

All tools of an agent, behind exec and wait:

    agent = Agent("anthropic:claude-opus-5", tools=[...], capabilities=[CodeModeCapability()])

Some of its tools: `CodeModeToolset(toolset)`. A run of this library with tools of this library:
`RunToolset(run)`.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pydantic_ai.capabilities import AbstractCapability, CapabilityOrdering, ToolSearch
from pydantic_ai.exceptions import ToolFailed, UserError
from pydantic_ai.messages import BinaryContent, ToolReturn
from pydantic_ai.tool_manager import ToolManager
from pydantic_ai.tools import (
    AgentDepsT,
    RunContext,
    ToolDefinition,
    ToolSelector,
    matches_tool_selector,
)
from pydantic_ai.toolsets import AbstractToolset, WrapperToolset
from pydantic_ai.toolsets.abstract import ToolsetTool

from ..models import Failed
from ..scope import Scope
from ..session import CodeMode
from ..surface import EXEC, WAIT
from ..tools import Tool, ToolResult
from . import wire
from ._pydantic_ai_calls import CodeModeCallEvent, State, nested, output_schema

if TYPE_CHECKING:
    from ..policy import Hooks
    from ..run import CodeModeRun
    from ..tools import ToolContext

__all__ = ["CodeModeCallEvent", "CodeModeCapability", "CodeModeToolset", "RunToolset"]

# Where arguments are that are no object; exec itself says what is wrong with them.
_RAW = "__arguments__"


class RunToolset(AbstractToolset[Any]):
    """exec, wait and the direct tools of a run. Close the run yourself."""

    def __init__(self, run: CodeModeRun, *, id: str | None = None) -> None:  # noqa: A002 -- theirs
        """Shows `run`.

        Raises:
            ValueError: The run is not engaged, so the agent has to use the tools themselves.
        """
        if not run.engaged:
            raise ValueError(f"code mode is not engaged: {run.activation.reason}")
        self._run = run
        self._id = id

    @property
    def id(self) -> str | None:
        """The id that was given."""
        return self._id

    async def get_tools(self, ctx: RunContext[Any]) -> dict[str, ToolsetTool[Any]]:  # noqa: ARG002
        """The tools as of now."""
        return _shown(self._run, self)

    async def call_tool(
        self,
        name: str,
        tool_args: dict[str, Any],
        ctx: RunContext[Any],
        tool: ToolsetTool[Any],  # noqa: ARG002
    ) -> Any:
        """Dispatches a call; a failed cell is a failed result that the model reads."""
        return await _call(self._run, name, tool_args, ctx)


@dataclass
class CodeModeToolset(WrapperToolset[AgentDepsT]):
    """Puts the tools of another toolset behind exec and wait.

    Nested calls take the way of all tool calls of pydantic-ai: validation, capabilities and their
    hooks, tracing, usage, and `HandleDeferredToolCalls` for tools that need approval; while a
    person decides, the program is parked. A program's mistakes and those of its tools never cost
    retries and never end the agent's run. Each run of the agent has cells of its own, which end
    with it.

    Attributes:
        cm: Where programs run; without one, each run of the agent makes its own. Share one in a
            service: its processes are warm then.
        config: As for `CodeMode`. With `"auto"`, models that are not known to write programs well
            get the tools themselves.
        tools: Which tools go behind exec. With `"all"` those stay visible that wait for an answer
            from outside of the run (`requires_approval`, external ones), so that the agent's own
            way of answering still works, and tools of the framework itself.
        hooks: Watch and control nested calls, as in `CodeMode.run`.
        output_schemas: Whether values are checked against, and described by, the tools' return
            types.
    """

    _: KW_ONLY
    cm: CodeMode | None = None
    config: Any = True
    tools: ToolSelector[AgentDepsT] = "all"
    hooks: Hooks | None = None
    output_schemas: bool = True
    _state: State | None = field(default=None, repr=False)

    async def for_run(self, ctx: RunContext[AgentDepsT]) -> AbstractToolset[AgentDepsT]:
        """A copy with cells of its own."""
        own: Any = self
        made: AbstractToolset[AgentDepsT] = replace(
            own, wrapped=await self.wrapped.for_run(ctx), _state=State()
        )
        return made

    async def __aexit__(self, *args: Any) -> bool | None:
        """Ends the run's cells, cancels their tools, then leaves the wrapped toolset."""
        try:
            if self._state is not None:
                await self._state.close(self.cm)
                self._state = None
        finally:
            handled: bool | None = await self.wrapped.__aexit__(*args)
        return handled

    async def get_tools(self, ctx: RunContext[AgentDepsT]) -> dict[str, ToolsetTool[AgentDepsT]]:
        """exec, wait and what stays visible; the wrapped tools if code mode does not engage.

        Raises:
            UserError: A tool that stays visible is called exec or wait.
        """
        inner: dict[str, ToolsetTool[AgentDepsT]] = await self.wrapped.get_tools(ctx)
        hidden = {n: tool for n, tool in inner.items() if await self._hides(ctx, tool.tool_def)}
        run = self._prepare(ctx, hidden)
        if run is None or not run.engaged:
            return inner
        visible = {name: tool for name, tool in inner.items() if name not in hidden}
        clash = sorted({EXEC, WAIT} & visible.keys())
        if clash:
            raise UserError(f"code mode: the visible tool {clash[0]!r} has code mode's own name")
        return {**_shown(run, self), **visible}

    async def _hides(self, ctx: RunContext[AgentDepsT], tool: ToolDefinition) -> bool:
        if tool.kind == "external" or tool.tool_kind is not None:
            return False
        # A native tool of the provider may stand in for it, which only works for a visible one.
        if tool.unless_native is not None or tool.with_native is not None:
            return False
        if self.tools == "all":
            return bool(not tool.defer and ctx.is_tool_available(tool))
        chosen = await matches_tool_selector(self.tools, ctx, tool)
        return bool(chosen and ctx.is_tool_available(tool))

    def _prepare(
        self, ctx: RunContext[AgentDepsT], hidden: dict[str, ToolsetTool[AgentDepsT]]
    ) -> CodeModeRun | None:
        """Makes the run with the first tools, and tells it of changes."""
        state = self._state = self._state or State()
        definitions = {name: tool.tool_def for name, tool in hidden.items()}
        state.hidden = dict(hidden)
        if state.run is None and hidden:
            state.cm = self.cm or CodeMode(self.config)
            state.run = state.cm.run(
                [self._tool(state, tool.tool_def) for tool in hidden.values()],
                scope=Scope(session_id=ctx.conversation_id, run_id=ctx.run_id),
                model=f"{ctx.model.system}/{ctx.model.model_name}",
                config=self.config,
                hooks=self.hooks,
            )
        elif state.run is not None and definitions != state.definitions:
            state.run.replace_tools(self._tool(state, tool.tool_def) for tool in hidden.values())
        state.definitions = definitions
        return state.run

    def _tool(self, state: State, definition: ToolDefinition) -> Tool:
        async def execute(given: Any, context: ToolContext) -> Any:
            return await nested(state, definition, given, context)

        return Tool(
            name=definition.name,
            description=definition.description or "",
            parameters=definition.parameters_json_schema,
            execute=execute,
            output_schema=output_schema(definition) if self.output_schemas else None,
        )

    async def call_tool(
        self,
        name: str,
        tool_args: dict[str, Any],
        ctx: RunContext[AgentDepsT],
        tool: ToolsetTool[AgentDepsT],
    ) -> Any:
        """Runs exec and wait; hands other calls to the wrapped toolset."""
        state = self._state
        if state is None or state.run is None or tool.args_validator is not _ARGUMENTS:
            return await self.wrapped.call_tool(name, tool_args, ctx, tool)
        state.manager = ToolManager(
            toolset=self.wrapped,
            root_capability=ctx.root_capability,
            ctx=ctx,
            tools=state.hidden,
        )
        result: Any = None
        try:
            result = await _call(state.run, name, tool_args, ctx)
        except ToolFailed:
            if state.fatal is None:
                raise
        if state.fatal is not None:
            # A limit of the agent's run, say: a program may have caught it, but it ends the run.
            raise state.fatal
        return result


@dataclass
class CodeModeCapability(AbstractCapability[AgentDepsT]):
    """Puts the tools of an agent behind exec and wait; see `CodeModeToolset` for the fields."""

    _: KW_ONLY
    cm: CodeMode | None = None
    config: Any = True
    tools: ToolSelector[AgentDepsT] = "all"
    hooks: Hooks | None = None
    output_schemas: bool = True

    def get_ordering(self) -> CapabilityOrdering:
        """Outside of everything that adds or changes tools."""
        return CapabilityOrdering(position="outermost", wraps=[ToolSearch])

    def get_wrapper_toolset(
        self, toolset: AbstractToolset[AgentDepsT]
    ) -> AbstractToolset[AgentDepsT]:
        """Wraps the agent's assembled tools."""
        return CodeModeToolset(
            toolset,
            cm=self.cm,
            config=self.config,
            tools=self.tools,
            hooks=self.hooks,
            output_schemas=self.output_schemas,
        )


class _Arguments:
    """Takes whatever the model sent: a mistake is answered by exec, not by a retry."""

    def validate_json(self, input: str | bytes | bytearray, **_: Any) -> Any:  # noqa: A002
        try:
            return self.validate_python(json.loads(input))
        except ValueError:
            text = input if isinstance(input, str) else bytes(input).decode("utf-8", "replace")
            return {_RAW: text}

    def validate_python(self, input: Any, **_: Any) -> Any:  # noqa: A002
        return dict(input) if isinstance(input, Mapping) else {_RAW: input}


_ARGUMENTS = _Arguments()


def _shown(run: CodeModeRun, toolset: AbstractToolset[Any]) -> dict[str, ToolsetTool[Any]]:
    return {
        tool.name: ToolsetTool(
            toolset=toolset,
            tool_def=ToolDefinition(
                name=tool.name,
                description=tool.description,
                parameters_json_schema=dict(tool.parameters or {"type": "object"}),
            ),
            max_retries=0,
            args_validator=_ARGUMENTS,
        )
        for tool in run.model_tools
    }


async def _call(run: CodeModeRun, name: str, given: dict[str, Any], ctx: RunContext[Any]) -> Any:
    result = await run.call(name, given.get(_RAW, given), call_id=ctx.tool_call_id)
    if isinstance(result, ToolResult):
        if result.is_error:
            raise ToolFailed(wire.result_text(result))
        content = [_content(block) for block in result.content]
        return content[0] if len(content) == 1 else content
    if isinstance(result, Failed):
        raise ToolFailed(wire.result_text(result))
    told = json.loads(wire.result_text(result))
    return ToolReturn(told, metadata={"telemetry": dict(result.telemetry)})


def _content(block: Any) -> Any:
    if isinstance(block, Mapping) and block.get("type") == "image" and "data" in block:
        data = base64.b64decode(block["data"])
        return BinaryContent(data=data, media_type=str(block.get("mimeType")))
    return wire.block_text(block)
