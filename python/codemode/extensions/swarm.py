"""`agents.run`, `phase` and `log`: a program that fans out over child agents (ns.3)."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
from collections import Counter
from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from ..call import GuestError
from ..native import engine
from ..tools import CLIENT, Tool, ToolContext

if TYPE_CHECKING:
    from ..call import Call
    from ..catalog import CatalogView
    from ..executor import Executor
    from ..scope import Scope

_log = logging.getLogger("codemode")

API_LIST, API_READ = 3, 4
DECLARATION = "agents.d.ts"
_DECLARATIONS = """\
/** What went wrong with a child agent. */
interface SwarmAgentError extends Error { name: "SwarmAgentError"; runId?: string; status: string }

declare const agents: {
  /**
   * Runs a child agent to its end. Gives its value if a schema was given, else its text.
   * Rejects with a SwarmAgentError. Start independent ones together with Promise.all.
   */
  run(prompt: string, options?: {
    label?: string;
    model?: string;
    thinking?: string;
    agentId?: string;
    fastMode?: boolean;
    phase?: string;
    /** JSON Schema of the value. */
    schema?: object;
  }): Promise<unknown>;
};
/** Tells the user which part of the work begins. */
declare function phase(note: string): void;
/** Tells the user something. */
declare function log(note: string): void;
"""
_TEXTS = {"label": "label", "model": "model", "thinking": "thinking", "agentId": "agent_id"}
# To compile a schema takes more time than in proportion, and a program made it.
_MAX_SCHEMA = 64 << 10
_OPTIONS = (*_TEXTS, "phase", "fastMode", "schema")
_MOST_NOTE = 2_000

# What became of a child by its key; a mapping that outlives the process makes replays free.
Journal = MutableMapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildRequest:
    """A child agent that a program wants.

    Attributes:
        key: The same for the same call of a cell that is replayed. A spawner whose children
            outlive its process should give the running child of that key.
        prompt: What the child is told.
        label: Name for people.
        model: Model id, if the program wants a certain one.
        thinking: Effort, in the host's words.
        agent_id: Which agent it is to be.
        fast_mode: The program wants it fast.
        phase: Part of the work that it belongs to.
        schema: JSON Schema of the value that is wanted.
        group: The exec call that it belongs to.
        scope: Who asks.
    """

    key: str
    prompt: str
    label: str | None = None
    model: str | None = None
    thinking: str | None = None
    agent_id: str | None = None
    fast_mode: bool = False
    phase: str | None = None
    schema: Mapping[str, Any] | None = None
    group: str = ""
    scope: Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildResult:
    """What a child gave. `value` is used if a schema was given and it is not None, else `text`."""

    run_id: str
    text: str = ""
    value: Any = None


class ChildFailed(Exception):
    """A child ended without a result; the guest sees it as `SwarmAgentError {runId, status}`."""

    def __init__(self, message: str, *, run_id: str | None = None, status: str = "failed") -> None:
        """See the class."""
        super().__init__(message)
        self.run_id = run_id
        self.status = status


class Spawner(Protocol):
    """Runs child agents for the host."""

    async def spawn(self, request: ChildRequest) -> ChildResult:
        """Runs one child to its end. Cancelled when the program is aborted or time is up.

        Raises:
            ChildFailed: It has no result.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds of a swarm.

    Attributes:
        concurrency: Children that run at once; others wait for their turn.
        live_per_group: Children of one exec that run or wait for their turn.
        total: Children of the run.
        wait_s: Seconds that one child may run.
    """

    concurrency: int = 8
    live_per_group: int = 50
    total: int = 200
    wait_s: float = 600.0


class Swarm:
    """Shows `agents`, `phase` and `log` to the guests of one run."""

    ops = frozenset({"agents.run", "agents.note"})

    def __init__(
        self,
        spawner: Spawner,
        *,
        limits: Limits | None = None,
        journal: Journal | None = None,
        on_note: Callable[[str, str], Any] | None = None,
    ) -> None:
        """Makes the extension of one run.

        Args:
            spawner: Runs the children.
            limits: Bounds; the defaults are those of `Limits`.
            journal: Remembers results by key, as JSON; in memory if None.
            on_note: Called with `"phase"` or `"log"` and the text.
        """
        self._spawner = spawner
        self._limits = limits or Limits()
        self._journal: Journal = {} if journal is None else journal
        self._on_note = on_note
        self._slots = asyncio.Semaphore(self._limits.concurrency)
        self._live: Counter[str] = Counter()
        self._total = 0
        self._phases: dict[str, str] = {}
        # How often a call of this id has ended here: a provider may use an id again. Only a call
        # that comes while the first one runs, or in a later process, is the same once more.
        self._ended: Counter[str] = Counter()
        self._running: dict[str, asyncio.Task[Mapping[str, Any]]] = {}
        # A tool in no catalog: hooks, approval and trajectory are those of every other call.
        self._tool = Tool(name="agents.run", execute=self._run, owner="swarm", source=CLIENT)

    def globals(self, view: CatalogView) -> Mapping[str, Any]:  # noqa: ARG002
        """`agents`, `phase` and `log` exist."""
        return {"swarm": True}

    def fetch(self, kind: int, argument: str, view: CatalogView) -> Any:  # noqa: ARG002
        """The declaration file."""
        file = {
            "path": DECLARATION,
            "description": "Child agents: agents.run, phase and log.",
            "bytes": len(_DECLARATIONS.encode()),
        }
        if kind == API_LIST:
            return [file]
        if kind == API_READ and argument == DECLARATION:
            return {**file, "content": _DECLARATIONS}
        return NotImplemented

    async def call(self, call: Call, executor: Executor, view: CatalogView) -> Any:
        """Serves `agents.run`, `phase` and `log`.

        Raises:
            GuestError: The child has no result (`SwarmAgentError`), or a hook refused it.
        """
        if call.op == "agents.note":
            self._note(call)
            return None
        given = call.arguments if isinstance(call.arguments, Mapping) else {}
        options = given.get("options")
        if options is not None and not isinstance(options, Mapping):
            raise GuestError("agents.run(prompt, options): options must be an object")
        call.arguments = {**(options or {}), "prompt": given.get("prompt")}
        return await executor.call_tool(call, "agents.run", self._tool, view)

    def _note(self, call: Call) -> None:
        text = call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments)
        text = text[:_MOST_NOTE]
        kind = "phase" if call.target == "phase" else "log"
        if kind == "phase":
            self._phases[call.parent_call_id] = text
        if self._on_note is None:
            return
        try:
            self._on_note(kind, text)
        except Exception:  # noqa: BLE001 -- logged; fire and forget never fails a program
            _log.exception("codemode: on_note raised")

    async def _run(self, given: Any, context: ToolContext) -> Any:
        nth = self._ended[context.call_id]
        request = self._request(given, context, nth)
        known = self._journal.get(request.key)
        if known is None and request.key in self._running:
            known = await asyncio.shield(self._running[request.key])
        if known is None:
            known = await self._start(request)
        self._ended[context.call_id] = nth + 1
        if "error" in known:
            raise GuestError(
                known["error"],
                name="SwarmAgentError",
                fields={"runId": known.get("runId"), "status": known["status"]},
            )
        return known["value"]

    async def _start(self, request: ChildRequest) -> Mapping[str, Any]:
        group, limits = request.group, self._limits
        if self._total >= limits.total:
            raise _rejected(f"this run has started {limits.total} child agents, the limit")
        if self._live[group] >= limits.live_per_group:
            raise _rejected(f"{limits.live_per_group} child agents of this program are live")
        self._total += 1
        self._live[group] += 1
        task = asyncio.ensure_future(self._spawn(request))
        self._running[request.key] = task
        try:
            known = self._journal[request.key] = await task
        finally:
            del self._running[request.key]
            self._live[group] -= 1
        return known

    async def _spawn(self, request: ChildRequest) -> Mapping[str, Any]:
        """Runs the child; gives what the journal keeps: `{value}` or `{error, status, runId}`."""
        run_id: str | None = None
        try:
            async with self._slots:
                spawning = self._spawner.spawn(request)
                result = await asyncio.wait_for(spawning, self._limits.wait_s)
            run_id = result.run_id
            return {"runId": run_id, "value": _value(request, result)}
        except ChildFailed as error:
            text = str(error) or "the child agent failed"
            return {"error": text, "status": error.status, "runId": error.run_id or run_id}
        except asyncio.TimeoutError:
            text = f"the child agent took longer than {self._limits.wait_s:g} s"
            return {"error": text, "status": "timeout", "runId": run_id}

    def _request(self, given: Any, context: ToolContext, nth: int) -> ChildRequest:
        prompt = given.get("prompt")
        if not isinstance(prompt, str) or not prompt.strip():
            raise GuestError("agents.run(prompt, options): prompt must be a text")
        group = context.parent_call_id or ""
        for key, value in given.items():
            if key != "prompt" and key not in _OPTIONS:
                known = ", ".join(_OPTIONS)
                raise GuestError(f"agents.run has no option {key[:40]!r}; options: {known}")
            wrong = (
                (key in _TEXTS or key == "phase") and not isinstance(value, str | None),
                key == "fastMode" and not isinstance(value, bool | None),
                key == "schema" and not isinstance(value, Mapping | None),
            )
            if any(wrong):
                raise GuestError(f"agents.run: option {key} has the wrong type")
        schema = given.get("schema")
        if schema is not None:
            _validator(schema)
        whole = [str(context.scope), context.call_id, given, *([nth] if nth else [])]
        digest = hashlib.sha256(json.dumps(whole, sort_keys=True, default=str).encode())
        return ChildRequest(
            key=digest.hexdigest()[:32],
            prompt=prompt,
            **{field: given.get(key) for key, field in _TEXTS.items()},
            fast_mode=given.get("fastMode") is True,
            phase=given.get("phase") or self._phases.get(group),
            schema=schema,
            group=group,
            scope=context.scope,
        )


def _rejected(why: str) -> GuestError:
    return GuestError(
        f"agents.run was refused: {why}.", name="SwarmAgentError", fields={"status": "rejected"}
    )


def _validator(schema: Mapping[str, Any]) -> Any:
    try:
        text = json.dumps(schema)
        validator = engine().Validator(text) if len(text) <= _MAX_SCHEMA else None
    except (TypeError, ValueError, RecursionError) as error:
        raise GuestError(f"agents.run: schema is no valid JSON Schema: {error}") from None
    if validator is None:
        raise GuestError(f"agents.run: schema is longer than {_MAX_SCHEMA} characters")
    return validator


def _value(request: ChildRequest, result: ChildResult) -> Any:
    """The child's value, checked; its text without a schema.

    Raises:
        ChildFailed: The value is not of the schema.
    """
    if request.schema is None:
        return result.text
    try:
        value = json.loads(_unfenced(result.text)) if result.value is None else result.value
        _validator(request.schema).check_output(value)
    except (TypeError, ValueError, RecursionError) as error:
        message = f"the child agent's answer is not of the schema: {str(error)[:500]}"
        raise ChildFailed(message, run_id=result.run_id, status="invalid_output") from None
    return value


def _unfenced(text: str) -> str:
    """The text inside one Markdown fence, if there is one around it."""
    lines = text.strip().splitlines()
    if len(lines) >= 2 and lines[0].startswith("```") and lines[-1].strip() == "```":
        return "\n".join(lines[1:-1])
    return text
