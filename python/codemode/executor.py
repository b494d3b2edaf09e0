"""The one path of a nested call: resolve, hook, check, run, check, encode (cat.7 to cat.10)."""

from __future__ import annotations

import asyncio
import inspect
import json
import logging
import time
from collections.abc import Mapping
from types import CoroutineType
from typing import TYPE_CHECKING, Any, Protocol, cast

from .blocks import without_binary
from .call import DIRECT, Call, GuestError
from .catalog import CatalogView, LookupFailed
from .native import engine
from .policy import Block, CallEvent, Change, Hooks, NeedsApproval, Replace
from .raised import is_for_the_host, said
from .tools import Tool, ToolContext, ToolResult, WrongInput

if TYPE_CHECKING:
    from .config import CodeModeConfig
    from .scope import Scope
    from .telemetry import Counters
    from .trajectory import Trajectory

_log = logging.getLogger("codemode")

# Largest value that crosses in either direction, encoded.
MAX_VALUE_BYTES = 16 << 20

TOOL_OPS = frozenset({"call", "callValue", "mcp"})


class Extension(Protocol):
    """Adds guest globals and bridge operations: MCP declarations, nodes, namespaces, swarm."""

    @property
    def ops(self) -> frozenset[str]:
        """Operations that `call` serves."""
        ...

    def globals(self, view: CatalogView) -> Mapping[str, Any]:
        """Members for the `globals` of a cell that starts with `view`."""
        ...

    def fetch(self, kind: int, argument: str, view: CatalogView) -> Any:
        """Answers a question of the worker (`FetchKind`), or NotImplemented if it is not ours."""
        ...

    async def call(self, call: Call, executor: Executor, view: CatalogView) -> Any:
        """Serves a nested call; gives its value or raises `GuestError`."""
        ...


class Executor:
    """Runs nested calls for one run."""

    def __init__(
        self,
        *,
        config: CodeModeConfig,
        scope: Scope,
        hooks: Hooks | None,
        counters: Counters,
        trajectory: Trajectory,
        extensions: tuple[Extension, ...] = (),
    ) -> None:
        """Collaborators of the run."""
        self.config = config
        self.scope = scope
        self.hooks = hooks
        self.counters = counters
        self.trajectory = trajectory
        self._extensions = {op: ext for ext in extensions for op in ext.ops}
        # What a guest may ask for.
        self.ops = _OPS | self._extensions.keys()
        self._encode = engine().encode
        self._encode_noting = engine().encode_noting

    async def run(self, call: Call, view: CatalogView) -> bytes:
        """Runs a call to its end.

        Returns:
            The encoded value for the guest.

        Raises:
            GuestError: Everything that goes wrong in it, but for KeyboardInterrupt, SystemExit
                and the cancellation of the task.
        """
        op = call.op
        try:
            value: Any
            if op == "callValue":
                tool_id, tool = view.resolve(call.target)
                value = await self.call_tool(call, tool_id, tool, view)
            elif op == "search":
                value = self._search(call, view)
            elif op == "describe":
                self.counters.since["describe"] += 1
                value = view.describe(call.target)
            elif op in self._extensions:
                value = await self._extensions[op].call(call, self, view)
            else:
                resolve = view.resolve_mcp if op == "mcp" else view.resolve
                tool_id, tool = resolve(call.target)
                value = await self.call_tool(call, tool_id, tool, view)
        except LookupFailed as error:
            raise GuestError(str(error)) from None
        try:
            encoded, not_finite = self._encode_noting(value, MAX_VALUE_BYTES)
        except (TypeError, ValueError, RecursionError) as error:
            raise GuestError(f"The result of {call.tool} cannot cross: {error}") from None
        if not_finite:
            call.notes.append(
                f"the result of {call.tool} held NaN or an infinity, which became null"
            )
        return cast("bytes", encoded)

    def encode_error(self, error: GuestError) -> bytes:
        """The encoded error for the guest."""
        try:
            encoded = self._encode(error.to_dict(), MAX_VALUE_BYTES)
        except (TypeError, ValueError, RecursionError):
            encoded = self._encode({"name": "Error", "message": error.message[:10_000]}, 1 << 20)
        return cast("bytes", encoded)

    def _search(self, call: Call, view: CatalogView) -> list[dict[str, Any]]:
        self.counters.since["search"] += 1
        given = call.arguments
        # `search("words", 3)` says what is meant.
        limit = given.get("limit") if isinstance(given, Mapping) else given
        most = self.config.max_search_limit
        if isinstance(limit, bool) or not isinstance(limit, (int, float)):
            limit = self.config.search_default_limit
            if given not in (None, {}, {"limit": None}):
                call.notes.append(
                    f"tools.search(query, {{ limit }}) got no number as limit; {limit} held"
                )
        return view.search(call.target[:2_000], int(min(max(limit, 1), most)))

    async def call_tool(self, call: Call, tool_id: str, tool: Tool, view: CatalogView) -> Any:
        """Runs one tool; extensions that stand on ordinary tools come in here too.

        Returns:
            `details` (or the whole result) for most operations, `{tool, result}` for `call`,
            what the tool gave for a direct call of the model.

        Raises:
            GuestError: See `run`.
        """
        call.tool = tool_id
        if call.replay_safe_only and not (
            tool.replay_safe and (call.target == tool_id or call.op not in TOOL_OPS)
        ):
            raise GuestError(
                f"{tool_id} was not run: a restart-safe cell may only call read-only, replay-safe "
                "tools by their exact id. Send the code again without restartSafe."
            )
        self.counters.since["call"] += 1
        arguments = {} if call.arguments is None else call.arguments
        who = call.call_id, call.parent_call_id, tool_id, tool.name
        self.trajectory.began(*who, arguments)
        started = time.perf_counter()
        outcome, message = "cancelled", None
        try:
            result = await self._guarded(call, tool_id, tool, arguments, view)
            outcome = "ok"
        except GuestError as error:
            outcome, message = "error", error.message
            raise
        finally:
            # Whoever still holds its context is not heard any more.
            call.context = None
            self.trajectory.ended(*who, outcome, time.perf_counter() - started, message)
        if call.op == DIRECT:
            return result
        result = _crossing(result)
        if call.op == "call":
            return {"tool": _short(view.entry(tool_id)), "result": _whole(result)}
        if not isinstance(result, ToolResult):
            return result
        if result.is_error and result.has_details:
            call.notes.append(
                f"{tool_id} reported a failure (isError); its value is what it gave nevertheless"
            )
        return result.value

    async def _guarded(
        self, call: Call, tool_id: str, tool: Tool, arguments: Any, view: CatalogView
    ) -> Any:
        event: CallEvent | None = None
        if self.hooks is not None:
            event = CallEvent(
                call_id=call.call_id,
                parent_call_id=call.parent_call_id,
                name=tool.name,
                tool_id=tool_id,
                input=arguments,
                scope=self.scope,
            )
            arguments = await self.ask(event, self.hooks, call)
            if call.aborted:
                # The hook has ended the cell, or it has ended meanwhile.
                if call.op == DIRECT:
                    # Nobody has cancelled the task: it is the host's own.
                    raise GuestError(f"{tool_id} was not run: its owner has aborted the run.")
                raise asyncio.CancelledError
        arguments = self._check_input(tool_id, tool, arguments, view)
        check_output = self._output_check(tool_id, tool, view)
        context = call.context = ToolContext(
            call_id=call.call_id,
            parent_call_id=call.parent_call_id,
            scope=self.scope,
            tool_id=tool_id,
            on_update=lambda partial: self._update(call, tool, partial),
        )
        try:
            result = tool.execute(arguments, context)
            if _is_awaitable(result):
                result = await result
        except GuestError:
            raise
        except WrongInput as error:
            generic = self.config.error_details == "generic"
            raise self._wrong_input(
                tool_id, "its input cannot be used" if generic else str(error), view
            ) from None
        except asyncio.CancelledError:
            if _is_being_cancelled() if call.op == DIRECT else call.aborted:
                raise
            raise GuestError(f"{tool_id} was cancelled.") from None
        except BaseException as error:
            if is_for_the_host(error):
                raise
            # Whatever else a tool raises is its own affair and must not end the host's loop.
            raise GuestError(self._message(tool_id, error)) from None
        if self.hooks is not None and event is not None:
            result = await self._after(event, self.hooks, result)
        if check_output is not None:
            value = result.value if isinstance(result, ToolResult) else result
            try:
                check_output(value)
            except (TypeError, ValueError, RecursionError) as error:
                raise GuestError(
                    f"{tool_id} gave a result that is not of its declared form: {error}"
                ) from None
        return result

    async def ask(self, event: CallEvent, hooks: Hooks, call: Call | None = None) -> Any:
        """Puts a call before the host's hooks.

        Returns:
            The input to use.

        Raises:
            GuestError: It was blocked or denied, or a hook failed.
        """
        name = event.tool_id or event.name
        try:
            verdict = await _maybe(hooks.before_tool_call(event))
            if isinstance(verdict, NeedsApproval):
                if call is not None:
                    call.state = "approval"
                granted = await _maybe(hooks.approve(event, verdict.prompt))
                if call is not None:
                    call.state = "running"
                verdict = None if granted is True else Block("a person denied it.")
        except GuestError:
            raise
        except Exception:  # noqa: BLE001 -- logged; see below
            # Closed on failure: a hook that breaks must not let a call through.
            _log.exception("codemode: a hook raised; %s was not run", name)
            verdict = Block("the host's check failed.")
        if verdict is None:
            return event.input
        if isinstance(verdict, Change):
            return verdict.input
        if isinstance(verdict, Block):
            raise GuestError(f"{name} was not run: {verdict.reason}")
        _log.error("codemode: before_tool_call gave %s; %s was not run", type(verdict), name)
        raise GuestError(f"{name} was not run: the host's check failed.")

    async def _after(self, event: CallEvent, hooks: Hooks, result: Any) -> Any:
        try:
            verdict = await _maybe(hooks.after_tool_call(event, result))
        except GuestError:
            raise
        except Exception:  # noqa: BLE001 -- logged; the guest gets an error
            _log.exception("codemode: after_tool_call raised for %s", event.tool_id)
            raise GuestError(
                f"{event.tool_id} has run, but the host's check of its result failed."
            ) from None
        return verdict.result if isinstance(verdict, Replace) else result

    def _check_input(self, tool_id: str, tool: Tool, arguments: Any, view: CatalogView) -> Any:
        check = view.input_check(tool)
        if check is None:
            if isinstance(arguments, (dict, Mapping)):
                return arguments
            raise GuestError(
                f"{tool_id} takes one object as input, for example {{}}; got {_kind(arguments)}."
            )
        try:
            return check(arguments)
        except (TypeError, ValueError, RecursionError) as error:
            raise self._wrong_input(tool_id, str(error), view) from None

    def _wrong_input(self, tool_id: str, why: str, view: CatalogView) -> GuestError:
        return GuestError(
            f"{tool_id} was not run: {why}. Expected input: {view.input_hint(tool_id)}"
        )

    def _output_check(self, tool_id: str, tool: Tool, view: CatalogView) -> Any:
        try:
            return view.output_check(tool)
        except (TypeError, ValueError, RecursionError) as error:
            raise GuestError(
                f"{tool_id} was not run: its declared output schema is invalid ({error})."
            ) from None

    def _update(self, call: Call, tool: Tool, partial: Any) -> None:
        if call.context is None:
            return
        self.trajectory.add(
            "call_update",
            call.call_id,
            payload=("partial", partial),
            parentCallId=call.parent_call_id,
            tool=call.tool,
            name=tool.name,
        )

    def _message(self, tool_id: str, error: BaseException) -> str:
        """What the guest may know of a tool's exception: its message, never class or stack."""
        if self.config.error_details == "generic":
            return f"{tool_id} failed."
        return said(error, tool_id)[:10_000]


_OPS = TOOL_OPS | {"search", "describe"}


def _is_being_cancelled() -> bool:
    """Whether it is this task that was cancelled, and not something that its tool waited for."""
    cancelling = getattr(asyncio.current_task(), "cancelling", None)
    # Python 3.10 cannot tell; a cancellation must not get lost.
    return cancelling is None or cancelling() > 0


def _is_awaitable(value: Any) -> bool:
    # `isawaitable` takes longer than many a tool.
    return type(value) is CoroutineType or inspect.isawaitable(value)


async def _maybe(value: Any) -> Any:
    return await value if _is_awaitable(value) else value


def _crossing(result: Any) -> Any:
    """What of a result may cross into the program: images do not."""
    if isinstance(result, ToolResult):
        content = without_binary(result.content)
        if content is result.content:
            return result
        details = {"details": result.details} if result.has_details else {}
        return ToolResult(content=content, is_error=result.is_error, **details)
    if type(result) is dict and "content" in result:
        content = without_binary(result["content"])
        return result if content is result["content"] else {**result, "content": content}
    return result


def _short(entry: Mapping[str, Any]) -> dict[str, Any]:
    keep = ("id", "name", "label", "source", "sourceName")
    return {key: entry[key] for key in keep if key in entry}


def _whole(result: Any) -> Any:
    if isinstance(result, ToolResult):
        return result.to_dict()
    if isinstance(result, str):
        text = result
    else:
        try:
            text = json.dumps(result, ensure_ascii=False, separators=(",", ":"))
        except (TypeError, ValueError, RecursionError):
            return {"content": [], "details": result}
    return {"content": [{"type": "text", "text": text}], "details": result}


def _kind(value: Any) -> str:
    names = {str: "a string", bool: "a boolean", list: "an array"}
    return names.get(type(value), "a number" if isinstance(value, (int, float)) else "null")
