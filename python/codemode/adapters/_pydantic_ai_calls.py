"""Nested calls of a program, dispatched as pydantic-ai dispatches all tool calls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic_ai.exceptions import AgentRunError, ApprovalRequired, CallDeferred, UserError
from pydantic_ai.messages import BinaryContent, CustomEvent, ToolCallPart, ToolReturn
from pydantic_ai.tools import ToolDefinition, ToolDenied
from pydantic_core import ValidationError, to_jsonable_python

from ..call import GuestError
from ..surface import EXEC
from ._barrier import Barrier

if TYPE_CHECKING:
    from pydantic_ai.tool_manager import ToolManager
    from pydantic_ai.toolsets.abstract import ToolsetTool

    from ..run import CodeModeRun
    from ..session import CodeMode
    from ..tools import ToolContext


@dataclass(kw_only=True, repr=False)
class CodeModeCallEvent(CustomEvent):
    """In the agent's event stream: a program has called a tool, or the call has ended.

    Attributes:
        call_id: Id of the nested call; `tool_call_id` is that of the model's exec.
        tool: Name of the tool.
        outcome: None when it begins, then `"ok"` or `"error"`.
        input: The arguments.
    """

    call_id: str = ""
    tool: str = ""
    outcome: str | None = None
    input: Any = None


class State:
    """What one run of an agent has.

    Attributes:
        cm: Where its programs run.
        run: Its code mode run, from when it has tools.
        definitions: Those of the tools behind exec.
        hidden: These tools.
        manager: Dispatches nested calls in the context of the model's latest exec or wait.
        barrier: Orders those that want to be alone.
        fatal: What has to end the agent's run.
    """

    def __init__(self) -> None:
        """Nothing yet."""
        self.cm: CodeMode | None = None
        self.run: CodeModeRun | None = None
        self.definitions: dict[str, ToolDefinition] = {}
        self.hidden: dict[str, ToolsetTool[Any]] = {}
        self.manager: ToolManager[Any] | None = None
        self.barrier = Barrier()
        self.fatal: BaseException | None = None

    async def close(self, given: CodeMode | None) -> None:
        """Ends the run, and the `CodeMode` unless it was given from outside."""
        if self.run is not None:
            await self.run.close()
        if self.cm is not None and self.cm is not given:
            await self.cm.close()


async def nested(state: State, definition: ToolDefinition, given: Any, context: ToolContext) -> Any:
    """A program's call of a tool.

    Raises:
        GuestError: Whatever went wrong, in words for the program.
    """
    manager = state.manager
    ctx = None if manager is None else manager.ctx
    if manager is None or ctx is None:
        raise GuestError(f"{definition.name} was not run: no call of the model is under way.")
    call = ToolCallPart(definition.name, dict(given), tool_call_id=context.call_id)

    async def tell(outcome: str | None) -> None:
        await ctx.emit(
            CodeModeCallEvent(
                call_id=context.call_id,
                tool=definition.name,
                outcome=outcome,
                input=given,
                tool_call_id=context.parent_call_id,
                tool_name=EXEC,
            )
        )

    await tell(None)
    outcome = "error"
    try:
        async with state.barrier.enter(alone=definition.sequential):
            value = await manager.handle_call(call, wrap_validation_errors=False)
        if isinstance(value, ToolDenied):
            raise GuestError(f"{definition.name} was not run: {value.message}")
        outcome = "ok"
    except (ApprovalRequired, CallDeferred):
        raise GuestError(
            f"{definition.name} was not run: it needs an answer from outside (an approval, say), "
            "for which this agent has no HandleDeferredToolCalls."
        ) from None
    except ValidationError as error:
        raise GuestError(f"{definition.name} was not run: {_problems(error)}") from None
    except (AgentRunError, UserError) as error:
        state.fatal = error
        raise
    finally:
        await tell(outcome)
    return _plain(value)


def output_schema(definition: ToolDefinition) -> Any:
    """The form of a tool's values; one that names all their members can be shown to the model."""
    schema = definition.return_schema or None
    # What a function returns has the members of its type. What a server declares may have others.
    is_function = "annotations" not in (definition.metadata or {})
    return _closed(schema) if schema and is_function else schema


def _closed(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_closed(item) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    out = {
        key: {name: _closed(item) for name, item in value.items()}
        if key in ("properties", "$defs") and isinstance(value, Mapping)
        else _closed(value)
        if key in ("items", "prefixItems", "anyOf", "oneOf", "additionalProperties")
        else value
        for key, value in schema.items()
    }
    if "properties" in out and out.get("type") == "object":
        out.setdefault("additionalProperties", False)
    return out


def _problems(error: ValidationError) -> str:
    return "; ".join(
        f"{'.'.join(map(str, item['loc'])) or 'input'}: {item['msg']}"
        for item in error.errors(include_url=False, include_context=False)[:10]
    )


def _plain(value: Any) -> Any:
    """What a tool gave, as JSON; files are replaced by a marker, as those of MCP are."""
    if isinstance(value, ToolReturn):
        return _plain(value.return_value)
    if isinstance(value, BinaryContent):
        kind = "image" if value.is_image else "file"
        size = len(value.data)
        return {"type": kind, "mimeType": value.media_type, "bytes": size, "omitted": True}
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, (str, int, float)):
        return value
    return to_jsonable_python(value, bytes_mode="base64")
