"""Code mode for agents of LangChain.

async with CodeMode(True) as cm, cm.run(from_langchain(tools)) as run:
    agent = create_agent("anthropic:claude-opus-5", tools=langchain_tools(run))
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from langchain_core.tools import BaseTool, InjectedToolCallId, ToolException
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import PrivateAttr
from pydantic_core import to_jsonable_python

from ..models import Failed
from ..tools import Tool, ToolResult
from . import wire

if TYPE_CHECKING:
    from ..run import CodeModeRun
    from ..tools import ToolContext

# `arun` knows the id of the model's call, and has no way to hand it on.
_CALL_ID: ContextVar[str | None] = ContextVar("codemode_langchain_call_id", default=None)


def langchain_tools(run: CodeModeRun) -> list[BaseTool]:
    """exec, wait and the direct tools of a run; async only.

    A failed cell is an answer with status `error` that the model reads. The `artifact` of exec
    and wait is their result, a `Completed` or `Waiting`.

    Args:
        run: Close it yourself, after the agent's last call. Where its tools change, ask again.

    Raises:
        ValueError: The run is not engaged, so the agent has to use the tools themselves.
    """
    if not run.engaged:
        raise ValueError(f"code mode is not engaged: {run.activation.reason}")
    return [_ModelTool.of(run, tool) for tool in run.model_tools]


def from_langchain(tools: Iterable[BaseTool]) -> list[Tool]:
    """Tools of LangChain as tools of this library, for `CodeMode.run`.

    They get the callbacks of the exec call below which they run, so traces keep their form.
    Errors reach the program as errors, also where `handle_tool_error` would make a text of them.

    Args:
        tools: What `@tool` and the like give.
    """
    return [_tool(tool) for tool in tools]


class _ModelTool(BaseTool):
    response_format: Any = "content_and_artifact"
    handle_tool_error: Any = True
    _target: Any = PrivateAttr()

    @classmethod
    def of(cls, run: CodeModeRun, tool: Any) -> BaseTool:
        # The run checks arguments itself, and its errors say what to send instead.
        made = cls(
            name=tool.name,
            description=tool.description,
            args_schema=dict(tool.parameters or {"type": "object"}),
        )
        made._target = run
        return made

    def _run(self, /, **_: Any) -> Any:
        raise NotImplementedError("code mode is async: use ainvoke")

    async def arun(
        self, tool_input: Any, *args: Any, tool_call_id: str | None = None, **kwargs: Any
    ) -> Any:
        token = _CALL_ID.set(tool_call_id)
        try:
            return await super().arun(tool_input, *args, tool_call_id=tool_call_id, **kwargs)
        finally:
            _CALL_ID.reset(token)

    async def _arun(self, /, **given: Any) -> Any:
        result = await self._target.call(self.name, given, call_id=_CALL_ID.get())
        if isinstance(result, Failed) or (isinstance(result, ToolResult) and result.is_error):
            raise ToolException(wire.result_text(result))
        if isinstance(result, ToolResult):
            return [_block(block) for block in result.content], result
        return wire.result_text(result), result


def _block(block: Any) -> dict[str, Any]:
    """A content block in LangChain's standard form."""
    if isinstance(block, Mapping) and block.get("type") == "image" and "data" in block:
        return {"type": "image", "base64": block["data"], "mime_type": block.get("mimeType")}
    return {"type": "text", "text": wire.block_text(block)}


def _tool(tool: BaseTool) -> Tool:
    # Without its handlers a failure is an exception, which the program gets as an error.
    raising = tool.model_copy(update={"handle_tool_error": False, "handle_validation_error": False})
    as_call = tool.response_format == "content_and_artifact" or _wants_call_id(tool)

    async def execute(given: Mapping[str, Any], context: ToolContext) -> Any:
        try:
            if not as_call:
                return _plain(await raising.ainvoke(dict(given)))
            message = await raising.ainvoke(
                {
                    "type": "tool_call",
                    "id": context.call_id,
                    "name": tool.name,
                    "args": dict(given),
                }
            )
        except ToolException as error:
            raise ToolException(_handled(tool, error)) from error
        artifact = getattr(message, "artifact", None)
        return _plain(getattr(message, "content", message) if artifact is None else artifact)

    return Tool(
        name=tool.name,
        description=tool.description,
        parameters=convert_to_openai_tool(tool)["function"]["parameters"],
        execute=execute,
    )


def _handled(tool: BaseTool, error: ToolException) -> str:
    """The words for a failure that the tool's author chose, if any."""
    handler = tool.handle_tool_error
    if isinstance(handler, str):
        return handler
    if callable(handler):
        return str(handler(error))
    return str(error)


def _wants_call_id(tool: BaseTool) -> bool:
    fields = getattr(tool.get_input_schema(), "model_fields", {})
    return any(
        mark is InjectedToolCallId or isinstance(mark, InjectedToolCallId)
        for field in fields.values()
        for mark in field.metadata
    )


def _plain(value: Any) -> Any:
    return to_jsonable_python(value, bytes_mode="base64", serialize_unknown=True)
