"""What goes wrong with a turn: too many requests, cancellation, errors of the provider."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest
from tests.agent.adapter_tools import QUICK, Slow
from tests.agent.model_server import ModelServer
from tests.agent.test_providers import FORMS, provider, results
from tests.hostile.live import alive, until

from codemode import CodeMode, PayloadRefused, Tool
from codemode.agent import Agent, Price, TooManyTurns, Transcript

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from codemode.agent import Answer

PRICE = Price(input=10, output=100, cache_read=1)
# What one reply of the server costs with it.
COST = (70 * 10 + 20 * 100 + 30 * 1) / 1e6
ROUND = {"calls": [("exec", {"code": "return await tools.add({a: 1, b: 1})"})]}


async def _add(given: Any, _: Any) -> Any:
    return given["a"] + given["b"]


class Talk:
    """An agent over a model server, with a tool that blocks."""

    def __init__(self, server: ModelServer, agent: Agent, slow: Slow) -> None:
        self.server, self.agent, self.slow = server, agent, slow

    def roles(self) -> list[str]:
        return [entry["role"] for entry in self.agent.transcript]

    def told(self) -> list[str]:
        """Results that the model was told in the last request."""
        return [text for _, text in results(self.server.requests[-1][1])]


@asynccontextmanager
async def talk(form: str, *turns: Any, config: Any = True, **more: Any) -> AsyncIterator[Talk]:
    slow = Slow()
    tools = (
        Tool(name="add", execute=_add, description="Adds."),
        Tool(name="slow", execute=slow.execute),
        Tool(name="block", execute=slow.execute, direct_only=True),
    )
    more = {"price": PRICE, **more}
    async with ModelServer(*turns) as server, CodeMode(config) as cm:
        await cm.ready()
        async with Agent(cm, provider(form, server.url), tools=tools, **more) as agent:
            yield Talk(server, agent, slow)


# Too many turns


@pytest.mark.req("tel.2")
@pytest.mark.parametrize("config", [True, False])
async def test_a_model_that_never_answers_is_stopped_and_can_go_on(config: bool) -> None:
    turn = ROUND if config else {"calls": [("add", {"a": 1, "b": 1})]}
    async with talk("chat", *[turn] * 5, {"text": "2"}, config=config, max_turns=2) as t:
        with pytest.raises(TooManyTurns, match="2 requests"):
            await t.agent.ask("go")
        assert len(t.server.requests) == 2
        assert t.agent.transcript.is_interrupted
        assert t.agent.transcript.unanswered() == []
        shown = [role for role in t.roles() if role != "nested"]
        assert shown == ["user", "assistant", "tool", "assistant", "tool"]
        with pytest.raises(RuntimeError, match="resume"):
            await t.agent.ask("again")
        with pytest.raises(TooManyTurns):
            await t.agent.resume()
        answer = await t.agent.resume()
        assert answer.text == "2"
        assert answer.metadata["assistantTurns"] == 6
        assert answer.metadata["costUsd"] == pytest.approx(6 * COST)
        assert answer.metadata["bridgeCalls"]["call"] == (5 if config else 0)
        assert len(t.told()) == 5


# Cancellation


@pytest.mark.req("exe.2", "tel.3")
async def test_a_cancelled_turn_leaves_no_worker_and_no_call_and_the_transcript_says_so() -> None:
    calls = [
        ("exec", {"code": "await tools.add({a: 1, b: 1}); return await tools.slow({})"}),
        ("exec", {"code": "return 7"}),
        ("block", {}),
    ]
    async with talk("messages", {"calls": calls}, {"text": "I see."}) as t:
        task = asyncio.ensure_future(t.agent.ask("go"))
        events = t.agent.run.trajectory
        await until(lambda: any(e.get("name") == "slow" for e in events), "the slow call")
        (cell,) = [c for c in t.agent.run._cells if c._calls._call_id == "call_1"]
        pid = await until(lambda: cell._live and cell._live._worker.pid, "a worker")
        await until(lambda: any(e.get("outcome") == "completed" for e in events), "the short one")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert t.slow.cancelled
        assert t.agent.run._cells == set()
        assert [one for one in t.agent.run._tasks if not one.done()] == []
        await until(lambda: not alive(pid), "the end of the worker")
        assert t.roles()[-4:] == ["tool", "tool", "tool", "end"]
        assert not t.agent.transcript.is_interrupted
        # The conversation goes on, and the model knows what has happened.
        answer = await t.agent.ask("and now?")
        assert answer.text == "I see."
        assert answer.metadata["assistantTurns"] == 2
        told = dict(results(t.server.requests[-1][1]))
        assert "the turn was cancelled" in told["call_1"]
        assert "openclaw:core:add (ok)" in told["call_1"]
        assert json.loads(told["call_2"])["value"] == 7
        assert "the turn was cancelled" in told["call_3"]
        nested = [e for e in t.agent.transcript if e["role"] == "nested"]
        assert [(e["name"], e["outcome"]) for e in nested] == [("add", "ok"), ("slow", "cancelled")]


@pytest.mark.parametrize("form", FORMS)
async def test_a_turn_cancelled_while_the_model_speaks_hangs_up_at_once(form: str) -> None:
    asked = asyncio.Event()
    async with talk(form, asked, {"text": "hello"}) as t:
        task = asyncio.ensure_future(t.agent.ask("go"))
        await asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert t.roles() == ["user", "end"]
        await until(lambda: t.server.hung_up, "hanging up")
        assert (await t.agent.ask("again")).text == "hello"
        assert t.agent.run.metadata["assistantTurns"] == 1


@pytest.mark.parametrize("form", FORMS)
async def test_a_stream_that_nobody_reads_to_its_end_ends_the_turn(form: str) -> None:
    turns = ({"text": "I compute.", **ROUND}, {"text": "two"})
    async with talk(form, *turns) as t:
        events = t.agent.stream("go")
        async for event in events:
            if event["type"] == "call":
                break
        await events.aclose()  # type: ignore[attr-defined]
        assert t.roles() == ["user", "assistant", "tool", "end"]
        assert (await t.agent.ask("again")).text == "two"
        assert "cancelled" in t.told()[0]


async def test_a_call_that_fails_in_the_host_ends_the_others_and_the_turn_can_be_resumed() -> None:
    class Breaks(Exception):
        pass

    calls = [("exec", {"code": "return 1"}), ("block", {})]
    async with talk("chat", {"calls": calls}, {"text": "ok"}) as t:
        call = t.agent.run.call

        async def broken(name: str, *args: Any, **more: Any) -> Any:
            if name == "exec":
                await t.slow.started.wait()
                raise Breaks
            return await call(name, *args, **more)

        t.agent.run.call = broken  # type: ignore[method-assign]
        with pytest.raises(Breaks):
            await t.agent.ask("go")
        # A defect of the host is no cancellation.
        assert t.slow.cancelled
        assert t.agent.transcript.is_interrupted
        assert len(t.agent.transcript.unanswered()) == 2
        t.agent.run.call = call  # type: ignore[method-assign]
        assert (await t.agent.resume()).text == "ok"
        assert ["the turn was broken off" in text for text in t.told()] == [True, True]


@pytest.mark.req("wai.3")
async def test_a_parked_program_survives_a_cancelled_turn() -> None:
    waiting = {"calls": [("exec", {"code": "return await tools.slow({})"})]}

    def go_on(body: Any) -> Any:
        run_id = json.loads(results(body)[0][1])["runId"]
        return {"calls": [("wait", {"runId": run_id})]}

    asked = asyncio.Event()
    async with talk("chat", waiting, asked, go_on, {"text": "ok"}, config=QUICK) as t:
        task = asyncio.ensure_future(t.agent.ask("go"))
        await asked.wait()
        task.cancel()
        await asyncio.wait([task])
        assert not t.slow.cancelled
        t.slow.release.set()
        assert (await t.agent.ask("again")).text == "ok"
        assert json.loads(t.told()[-1])["value"] == "slept"


# Errors of the provider


async def failing(t: Talk, match: str) -> None:
    with pytest.raises(Exception, match=match):
        await t.agent.ask("go")


@pytest.mark.req("tel.2")
@pytest.mark.parametrize("status", [429, 500, 529])
@pytest.mark.parametrize("form", FORMS)
async def test_an_http_error_is_raised_counts_nothing_and_the_turn_can_be_resumed(
    form: str, status: int
) -> None:
    async with talk(form, ROUND, {"status": status}, {"status": status}, {"text": "two"}) as t:
        await failing(t, str(status))
        before = list(t.agent.transcript)
        assert t.agent.run.metadata["assistantTurns"] == 1
        assert t.agent.run.metadata["costUsd"] == pytest.approx(COST)
        with pytest.raises(Exception, match=str(status)):
            await t.agent.resume()
        assert list(t.agent.transcript) == before
        answer: Answer = await t.agent.resume()
    assert answer.text == "two"
    # The program was run once, and the same request was sent each time.
    assert answer.metadata["bridgeCalls"]["call"] == 1
    assert answer.metadata["assistantTurns"] == 2
    bodies = [body for _, body in t.server.requests[1:]]
    assert bodies[0] == bodies[1] == bodies[2]


@pytest.mark.parametrize("form", FORMS)
async def test_what_the_sdk_tries_again_is_one_turn(form: str) -> None:
    async with talk(form, {"status": 500}, {"status": 429}, {"text": "hi"}) as t:
        client = t.agent._provider._client  # type: ignore[attr-defined]
        client.max_retries = 2
        answer = await t.agent.ask("go")
        assert answer.text == "hi"
        assert answer.metadata["assistantTurns"] == 1
        assert answer.metadata["costUsd"] == pytest.approx(COST)
        assert len(t.server.requests) == 3


@pytest.mark.req("tel.2")
@pytest.mark.parametrize("cut", [1, 2, 3, 4])
@pytest.mark.parametrize("form", FORMS)
async def test_a_stream_that_is_cut_off_is_no_reply(form: str, cut: int) -> None:
    if form == "chat":
        cut += 2  # the last two events of it hold the usage and a mark, not the reply
    if form == "messages":
        cut += 1  # without its very last event the reply is whole
    async with talk(form, {"text": "I compute. ", **ROUND, "cut": cut}, {"text": "hi"}) as t:
        seen: list[str] = []

        async def read() -> None:
            async for event in t.agent.stream("go"):
                seen.extend([event["type"]])

        with pytest.raises(Exception, match=r"early|closed|incomplete"):
            await read()
        assert set(seen) <= {"text"}  # nothing is run of half a reply
        assert t.roles() == ["user"]
        assert t.agent.run.metadata["assistantTurns"] == 0
        assert "costUsd" not in t.agent.run.metadata
        assert (await t.agent.resume()).text == "hi"
        assert "I compute." not in json.dumps(t.server.requests[1][1]["tools"])


@pytest.mark.req("exe.1", "exe.2", "srf.7")
@pytest.mark.parametrize("form", ["responses", "chat"])
async def test_arguments_that_are_no_json_and_unknown_tools_are_answered(form: str) -> None:
    calls = [
        ("exec", '{"code": "return'),
        ("exec", "[]"),
        ("exec", "null"),
        ("exec", ""),
        ("wait", "7"),
        ("wait", '{"runId": "cm_nope"}'),
        ("nonsense", "{"),
        ("add", '{"a": 1}'),
        ("block", "[1"),
        ("", "{}"),
    ]
    async with talk(form, {"calls": calls}, {"text": "sorry"}) as t:
        answer = await t.agent.ask("go")
        assert answer.text == "sorry"
        assert answer.metadata["bridgeCalls"]["call"] <= 1  # block, whose arguments are checked
        assert not t.slow.started.is_set()
        told = t.told()
        assert len(told) == len(calls)
        for text in told[:8]:
            assert json.loads(text)["code"] == "invalid_input"
        assert "exec({" in json.loads(told[7])["error"]
        entries = [entry for entry in t.agent.transcript if entry["role"] == "tool"]
        assert [entry["isError"] for entry in entries] == [True] * len(calls)
        # What the model wrote goes back as it was.
        assert '{\\"code\\": \\"return' in json.dumps(t.server.requests[1][1])


async def test_a_provider_may_use_the_same_call_ids_in_each_reply(tmp_path: Any) -> None:
    path = tmp_path / "t.jsonl"
    transcript = Transcript(path)
    call = {"id": "c0", "name": "exec", "input": {"code": "return 1"}}
    for _ in range(2):
        transcript.add("assistant", text="", calls=[call])
        assert [one.id for one in Transcript(path).unanswered()] == ["c0"]
        transcript.add("tool", callId="c0", name="exec", content=[], isError=False)
        assert Transcript(path).unanswered() == []


# The last look at a request


@pytest.mark.req("srf.6", "act.4")
async def test_what_a_provider_adds_is_dropped_and_what_it_loses_is_refused() -> None:
    async with talk("messages", {"text": "hi"}) as t:
        inner = t.agent._provider.payload
        stray = {"name": "add", "description": "", "input_schema": {"type": "object"}}
        tools: list[Any] = []

        def changed(request: Any) -> dict[str, Any]:
            body = inner(request)
            return {**body, "tools": tools or [*body["tools"], stray]}

        t.agent._provider.payload = changed  # type: ignore[method-assign]
        await t.agent.ask("go")
        (_, body) = t.server.requests[0]
        assert sorted(tool["name"] for tool in body["tools"]) == ["block", "exec", "wait"]
        tools.append(stray)
        with pytest.raises(PayloadRefused, match="exec 0 times"):
            await t.agent.ask("again")
        assert len(t.server.requests) == 1  # nothing was sent


# A turn that a restart has interrupted


@pytest.mark.req("rec.1")
async def test_until_the_model_has_answered_only_what_is_replay_safe_runs() -> None:
    transcript = Transcript()
    transcript.add("user", text="go")
    calls = [("block", {}), ("exec", {"code": "return await tools.callValue('add', {})"})]
    turns = ({"calls": calls}, {"text": "careful"}, {"calls": [("block", {})]}, {"text": "done"})
    async with talk("chat", *turns, transcript=transcript) as t:
        t.slow.release.set()
        assert (await t.agent.resume()).text == "careful"
        refused, parked = t.told()
        assert "not run in a turn that a restart interrupted" in refused
        assert json.loads(parked)["status"] == "waiting"  # restart-safe, so it never drains
        assert not t.slow.started.is_set()
        assert (await t.agent.ask("go on")).text == "done"
        assert t.told()[-1] == "slept"
