"""The loop: ask the model, run its calls, tell it the results, until it answers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from ..adapters.wire import result_text
from ..debug import Debug
from ..models import Failed, Waiting
from ..scope import Scope
from ..surface import EXEC, WAIT
from ..tools import ToolResult
from .calls import Recorder, call_plain, interrupted_text
from .messages import ModelRequest, Price, Provider, Reply, ToolCall
from .transcript import SHOWN, Transcript

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from ..executor import Extension
    from ..models import Result
    from ..policy import Hooks, Policy
    from ..session import CodeMode
    from ..tools import Tool

Event = Mapping[str, Any]


class TooManyTurns(RuntimeError):
    """The model went on calling tools beyond `max_turns`; the transcript has what it did."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What `Agent.ask` gives.

    Attributes:
        text: The model's final words.
        metadata: The run's metadata so far (tel.2).
    """

    text: str
    metadata: Mapping[str, Any]


class Agent:
    """A conversation of one model with one set of tools. One `ask` at a time.

    Attributes:
        run: The code mode run below it.
        transcript: What was said and done.
    """

    def __init__(
        self,
        cm: CodeMode,
        provider: Provider,
        *,
        tools: Iterable[Tool] = (),
        system: str = "",
        transcript: Transcript | None = None,
        price: Price | None = None,
        max_turns: int = 50,
        model: Any = None,
        scope: Scope | None = None,
        hooks: Hooks | None = None,
        policy: Policy | None = None,
        visible: Iterable[str] = (),
        extensions: Iterable[Extension] = (),
        config: Any = None,
        tools_disabled: bool = False,
    ) -> None:
        """Prepares the run; asks nothing yet.

        Args:
            cm: Where cells run.
            provider: The model.
            tools: The effective tools.
            system: System prompt.
            transcript: An earlier conversation to go on from, or where to keep this one.
            price: For `costUsd` in the metadata; without it no cost is reported.
            max_turns: Most requests to the model within one `ask`.
            model: As in `CodeMode.run`; `provider/model` of the provider if None.
            scope: As in `CodeMode.run`, like all that follow.
            hooks: Also told of the calls of runs that are not engaged.
            policy: Filters the tools.
            visible: Native tools that the model keeps seeing.
            extensions: Further guest globals.
            config: Per-agent settings.
            tools_disabled: The model gets no tools at all.
        """
        self.transcript = transcript if transcript is not None else Transcript()
        self._provider = provider
        self._system = system
        self._price = price
        self._max_turns = max_turns
        self._tools_disabled = tools_disabled
        self._hooks = hooks
        self._turns = 0
        self._debug = Debug.from_environment()
        # What a process before this one has left (rec.1).
        self._replayable = self.transcript.replayable()
        self._recovering = self.transcript.is_interrupted
        self.run = cm.run(
            tools,
            scope=scope or Scope(),
            model=model if model is not None else f"{provider.name}/{provider.model}",
            hooks=Recorder(self.transcript, hooks),
            policy=policy,
            visible=visible,
            extensions=extensions,
            config=config,
            tools_disabled=tools_disabled,
        )

    async def __aenter__(self) -> Agent:
        """Gives itself."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Closes the run."""
        await self.run.close()

    async def ask(self, prompt: str) -> Answer:
        """Says something to the model and runs its calls until it answers.

        Cancelling it ends the turn: the programs that run are killed, their tools cancelled, and
        the transcript says so; the next `ask` may follow.

        Raises:
            RuntimeError: The transcript ends within a turn; `resume` comes first.
            TooManyTurns: See the class; `resume` goes on.
            PayloadRefused: The request would have shown the model other tools than it may see.
        """
        return await _last(self.stream(prompt))

    async def resume(self) -> Answer:
        """Goes on with a turn that a restart or an error has interrupted (rec.1).

        Restart-safe programs are run again. Other calls that have no result are not: the model
        is told what is known of them. After a restart, until the model has answered, only
        restart-safe programs and replay-safe tools run.
        """
        return await _last(self.stream(None))

    async def stream(self, prompt: str | None) -> AsyncIterator[Event]:
        """As `ask` (or `resume`, for None), event by event.

        Yields:
            `{type: "text", text}` as the model speaks; `{type: "call", call: {id, name, input}}`;
            `{type: "result", callId, name, content, isError}`; at last
            `{type: "answer", answer: Answer}`.
        """
        self._turns += 1
        turn = self._turns
        try:
            async with aclosing(self._turn(prompt)) as events:
                async for event in events:
                    yield event
        except (asyncio.CancelledError, GeneratorExit):
            # A stream that nobody finished may be closed when the next turn has begun.
            if turn == self._turns:
                self._stop()
            raise

    async def _turn(self, prompt: str | None) -> AsyncGenerator[Event, None]:
        if prompt is None:
            for event in await self._finish_calls():
                yield event
        elif self.transcript.is_interrupted:
            raise RuntimeError("the transcript ends within a turn: call resume() first")
        else:
            self.transcript.add("user", text=prompt)
        for _ in range(self._max_turns):
            reply: Reply | None = None
            async with aclosing(self._request()) as pieces:
                async for piece in pieces:
                    if isinstance(piece, Reply):
                        reply = piece
                    else:
                        yield {"type": "text", "text": piece}
            if reply is None:
                raise RuntimeError("the provider's stream ended without a reply")
            self._keep(reply)
            if not reply.calls:
                self._recovering = False
                answer = Answer(text=reply.text, metadata=self.run.metadata)
                yield {"type": "answer", "answer": answer}
                return
            for call in reply.calls:
                yield {"type": "call", "call": call.to_dict()}
            for event in await self._together(reply.calls, self._call):
                yield event
        raise TooManyTurns(f"no answer after {self._max_turns} requests")

    def _stop(self) -> None:
        """Ends a turn that was cancelled, so that the conversation can go on with another `ask`."""
        if not self.transcript.is_interrupted:
            return
        for call in self.transcript.unanswered():
            nested = self.transcript.nested_of(call.id)
            self._tell(call, _refusal(interrupted_text(call, nested, "the turn was cancelled")))
        self.transcript.add("end", reason="cancelled")
        self._recovering = False

    # One request

    async def _request(self) -> AsyncGenerator[str | Reply, None]:
        tools = () if self._tools_disabled else self.run.model_tools
        entries = [e for e in self.transcript if e["role"] in SHOWN]
        payload = self._provider.payload(
            ModelRequest(system=self._system, entries=entries, tools=tools)
        )
        guarded = self.run.guard(payload)
        self._debug.log_request(self._provider.name, self._provider.model, entries=len(entries))
        stream = self._provider.stream(guarded)
        try:
            async for piece in stream:
                yield piece
        finally:
            # At once, so that a turn that is given up does not hold the connection.
            close = getattr(stream, "aclose", None)
            if close is not None:
                await close()

    def _keep(self, reply: Reply) -> None:
        priced = self._price is not None and reply.usage is not None
        cost = cast("Price", self._price).of(cast("Any", reply.usage)) if priced else None
        self.run.record_turn(cost)
        self.transcript.add(
            "assistant",
            text=reply.text,
            calls=[call.to_dict() for call in reply.calls],
            form=None if reply.native is None else self._provider.form,
            native=reply.native,
        )

    # Calls

    async def _call(self, call: ToolCall) -> Result | ToolResult:
        if not self.run.engaged:
            return await call_plain(self.run, call, self._hooks)
        given = call.input
        if call.name == WAIT and isinstance(given, Mapping):
            origin = self._replayable.pop(str(given.get("runId")), None)
            if origin is not None:
                # The cell died with its process; its program may be run again.
                return await self.run.exec({**origin.input, "restartSafe": True}, call_id=origin.id)
        if self._recovering:
            if call.name == EXEC and isinstance(given, Mapping):
                given = {**given, "restartSafe": True}
            elif call.name not in (EXEC, WAIT) and not self._is_replay_safe(call.name):
                return _refusal(f"{call.name} is not run in a turn that a restart interrupted.")
        return await self.run.call(call.name, given, call_id=call.id)

    async def _finish_calls(self) -> list[Event]:
        """Answers the calls that an interruption left without a result."""
        return await self._together(self.transcript.unanswered(), self._finish)

    async def _together(
        self,
        calls: Iterable[ToolCall],
        run: Callable[[ToolCall], Awaitable[Result | ToolResult]],
    ) -> list[Event]:
        """Runs calls at the same time; gives their events in the order of the calls."""
        tasks = [(call, asyncio.ensure_future(run(call))) for call in calls]
        if not tasks:
            return []
        try:
            results = await asyncio.gather(*(task for _, task in tasks))
        except BaseException:
            # None may go on alone, and what has ended is told before the turn ends.
            for _, task in tasks:
                task.cancel()
            await asyncio.wait([task for _, task in tasks])
            for call, task in tasks:
                if not task.cancelled() and task.exception() is None:
                    self._tell(call, task.result())
            raise
        return [self._tell(call, result) for (call, _), result in zip(tasks, results, strict=True)]

    async def _finish(self, call: ToolCall) -> Result | ToolResult:
        given = call.input if isinstance(call.input, Mapping) else {}
        if (
            (call.name == EXEC and given.get("restartSafe") is True and self.run.engaged)
            or (call.name == WAIT and str(given.get("runId")) in self._replayable)
            or self._is_replay_safe(call.name)
        ):
            return await self._call(call)
        why = "the host was restarted" if self._recovering else "the turn was broken off"
        return _refusal(interrupted_text(call, self.transcript.nested_of(call.id), why))

    def _is_replay_safe(self, name: str) -> bool:
        tools = [tool for tool in self.run.catalog.tools if tool.name == name]
        return len(tools) == 1 and tools[0].replay_safe

    def _tell(self, call: ToolCall, result: Result | ToolResult) -> Event:
        """Writes a result into the transcript and gives its event."""
        fields: dict[str, Any] = {"callId": call.id, "name": call.name}
        if isinstance(result, ToolResult):
            fields |= {"content": list(result.content), "isError": result.is_error}
        else:
            text = result_text(result)
            fields |= {
                "content": [{"type": "text", "text": text}],
                "isError": isinstance(result, Failed),
                "status": result.status,
            }
            if isinstance(result, Waiting):
                fields |= {"runId": result.run_id, "replaySafe": result.replay_safe or None}
        self.transcript.add("tool", **fields)
        return {"type": "result", **fields}


def _refusal(text: str) -> ToolResult:
    return ToolResult(content=[{"type": "text", "text": text}], is_error=True)


async def _last(events: AsyncIterator[Event]) -> Answer:
    answer: Answer | None = None
    async for event in events:
        if event["type"] == "answer":
            answer = event["answer"]
    if answer is None:
        raise RuntimeError("the stream ended without an answer")
    return answer
