"""The verification list of the source document, bullet by bullet, through real workers."""

from __future__ import annotations

import asyncio
import json
import os
import time
from typing import Any

import pytest
from examples.scripted import ScriptedModel
from tests.e2e.gateway import SCOPE, Approving, DenyWipe, Gateway

from codemode import (
    Change,
    CodeMode,
    CodeModeRun,
    Completed,
    Failed,
    NeedsApproval,
    Scope,
    Waiting,
)
from codemode.agent import Transcript
from codemode.mcp import McpSurface

SLOW = {"code": "return await tools.callValue('slow', {});"}


@pytest.fixture
async def gateway() -> Gateway:
    return Gateway()


def run_of(cm: CodeMode, gateway: Gateway, **more: Any) -> CodeModeRun:
    given: dict[str, Any] = {"policy": DenyWipe(), "extensions": [McpSurface()], "scope": SCOPE}
    return cm.run(gateway.tools, **{**given, **more})


async def result_of(gateway: Gateway, code: str, config: Any = None, **more: Any) -> Any:
    async with CodeMode({"enabled": True, **(config or {})}) as cm:
        await cm.ready()
        return await run_of(cm, gateway).exec({"code": code, **more})


@pytest.mark.req("act.1", "srf.1")
async def test_a_disabled_configuration_does_not_change_the_exposed_tools(
    gateway: Gateway,
) -> None:
    async with CodeMode(False) as cm:
        run = run_of(cm, gateway)
        assert run.model_tools == tuple(gateway.tools)
        payload = {"tools": [{"name": "greet"}]}
        assert run.guard(payload) is payload


@pytest.mark.req("act.1", "cfg.2")
async def test_an_object_without_enabled_does_not_engage_for_an_unmarked_model(
    gateway: Gateway,
) -> None:
    model = ScriptedModel("done")
    agent, _ = await gateway.turn({"timeoutMs": 5_000}, model)
    assert "greet" in model.tools_shown(0)
    assert agent.run.metadata["codeModeEngaged"] is False


@pytest.mark.req("srf.1")
async def test_an_enabled_run_exposes_exec_wait_and_the_direct_only_tools(
    gateway: Gateway,
) -> None:
    model = ScriptedModel({"calls": [("screenshot", {})]}, "done")
    agent, _ = await gateway.turn(True, model)
    assert sorted(model.tools_shown(0)) == ["exec", "screenshot", "wait"]
    shown = [entry for entry in agent.transcript if entry["role"] == "tool"]
    assert shown[0]["content"] == [{"type": "image", "data": "AAAA", "mimeType": "image/png"}]


@pytest.mark.req("act.2")
@pytest.mark.parametrize("how", [{"tools_disabled": True}, {"tools": [], "extensions": []}])
async def test_runs_without_tools_do_not_trigger_the_payload_guard(
    gateway: Gateway, how: dict[str, Any]
) -> None:
    model = ScriptedModel("hello")
    agent, answer = await gateway.turn(True, model, **how)
    assert answer == "hello"
    assert "tools" not in model.payloads[0]
    assert agent.run.engaged is False


@pytest.mark.req("cat.1")
async def test_every_effective_tool_that_is_no_mcp_tool_is_in_all_tools(gateway: Gateway) -> None:
    names = await gateway.value("return ALL_TOOLS.map((t) => t.name).sort()")
    assert names == ["add_note", "exec", "greet", "pick_color", "slow"]


@pytest.mark.req("srf.1", "cat.2")
async def test_a_direct_only_tool_stays_visible_and_is_not_in_all_tools(gateway: Gateway) -> None:
    value = await gateway.value(
        """
        try { await tools.callValue("screenshot"); } catch (error) {
          return [ALL_TOOLS.some((t) => t.name === "screenshot"), error.message];
        }
        """
    )
    assert value[0] is False
    assert "cannot be called from code" in value[1]


@pytest.mark.req("cat.2")
async def test_a_denied_tool_is_not_in_all_tools(gateway: Gateway) -> None:
    assert not await gateway.value("return ALL_TOOLS.some((t) => t.name === 'wipe_disk')")
    async with CodeMode(True) as cm:
        run = run_of(cm, gateway, policy=None)
        result = await run.exec({"code": "return ALL_TOOLS.some((t) => t.name === 'wipe_disk')"})
        assert isinstance(result, Completed)
        assert result.value is True


@pytest.mark.req("cat.6", "cat.7")
async def test_search_describe_call_value_and_call_work_for_native_tools(
    gateway: Gateway,
) -> None:
    value = await gateway.value(
        """
        const id = (await tools.search("greet"))[0].id;
        return [
          (await tools.describe(id)).name,
          await tools.callValue(id, {name: "Bo"}),
          (await tools.call(id, {name: "Bo"})).result.details,
        ];
        """
    )
    assert value == ["greet", {"text": "Hello Bo"}, {"text": "Hello Bo"}]


@pytest.mark.req("mcp.3")
async def test_api_files_show_mcp_declarations_without_a_bridge_or_tool_call(
    gateway: Gateway,
) -> None:
    hooks = Approving()
    result_text = """
        const paths = (await API.list("mcp")).files.map((f) => f.path);
        return [paths, (await API.read("mcp/tracker.d.ts")).content.includes("createIssue")];
    """
    model = ScriptedModel({"exec": result_text}, lambda seen: seen.results[-1])
    agent, text = await gateway.turn(True, model, hooks=hooks)
    assert json.loads(text)["value"] == [["mcp/index.d.ts", "mcp/tracker.d.ts"], True]
    assert agent.run.metadata["bridgeCalls"] == {"search": 0, "describe": 0, "call": 0}
    assert [event.name for event in hooks.seen] == ["exec"]


@pytest.mark.req("mcp.1")
async def test_api_of_the_namespace_is_the_inline_way_to_a_schema(gateway: Gateway) -> None:
    value = await gateway.value("return await MCP.tracker.$api('createIssue', {schema: true});")
    assert value["tools"][0]["inputSchema"]["required"] == ["name"]
    assert "createIssue" in value["tools"][0]["signature"]


@pytest.mark.req("mcp.1", "cat.2")
async def test_a_namespace_call_takes_one_object_and_tools_has_no_mcp_entry(
    gateway: Gateway,
) -> None:
    value = await gateway.value(
        """
        const good = await MCP.tracker.createIssue({name: "a"});
        let bad = "accepted";
        try { await MCP.tracker.createIssue("a"); } catch (error) { bad = error.message; }
        return [good.content[0].text, bad, typeof tools.create_issue];
        """
    )
    assert value[0] == "issue a"
    assert "one object" in value[1]
    assert gateway.calls == [("create_issue", {"name": "a"})]


@pytest.mark.req("exe.9", "cat.2")
async def test_tool_search_controls_are_neither_visible_nor_catalogued(gateway: Gateway) -> None:
    model = ScriptedModel(
        {"exec": "return ALL_TOOLS.some((t) => t.name === 'tool_search')"},
        lambda seen: seen.results[-1],
    )
    _, text = await gateway.turn(True, model)
    assert json.loads(text)["value"] is False
    assert "tool_search" not in model.tools_shown(0)
    # Without code mode it is a tool like any other.
    plain = ScriptedModel("done")
    await gateway.turn(False, plain)
    assert "tool_search" in plain.tools_shown(0)


@pytest.mark.req("cat.8")
async def test_nested_calls_keep_approval_and_hooks(gateway: Gateway) -> None:
    hooks = Approving(greet=NeedsApproval("May it greet?"), add_note=Change({"changed": True}))
    value = await gateway.value(
        """
        const hello = await tools.greet({name: "Cy"});
        return [hello.text, await tools.add_note({original: true})];
        """,
        hooks=hooks,
    )
    assert value == ["Hello Cy", {"kept": {"changed": True}}]
    assert hooks.asked == ["May it greet?"]
    assert [event.parent_call_id for event in hooks.seen] == [None, "call-1", "call-1"]


@pytest.mark.req("exe.9")
async def test_a_shell_exec_is_hidden_from_the_model_and_callable_by_id(gateway: Gateway) -> None:
    model = ScriptedModel("done")
    await gateway.turn(True, model)
    assert model.tools_shown(0).count("exec") == 1
    value = await gateway.value(
        "return await tools.callValue('openclaw:shell:exec', {command: 'ls'})"
    )
    assert value == "$ ls"


@pytest.mark.req("exe.9")
async def test_the_guest_cannot_call_code_modes_own_exec_and_wait(gateway: Gateway) -> None:
    without_shell = [tool for tool in gateway.tools if tool.name != "exec"]
    value = await gateway.value(
        """
        const said = [];
        for (const id of ["exec", "wait", "openclaw:core:exec", "openclaw:core:wait"]) {
          try { said.push(await tools.callValue(id, {code: "return 1"})); }
          catch (error) { said.push(error.message.includes("There is no tool")); }
        }
        return [said, typeof tools.exec, typeof tools.wait, typeof exec, typeof wait];
        """,
        tools=without_shell,
    )
    assert value == [[True] * 4, *["undefined"] * 4]


@pytest.mark.req("exe.8")
async def test_typescript_is_transformed_where_it_is_allowed_and_refused_where_not(
    gateway: Gateway,
) -> None:
    code = "enum Size { S = 1, M } const n: number = Size.M as number; return n;"
    good = await result_of(gateway, code, language="typescript")
    assert good.value == 2
    config = {"languages": ["javascript"]}
    refused = await result_of(gateway, code, config, language="typescript")
    assert (refused.status, refused.code) == ("failed", "invalid_input")
    unmarked = await result_of(gateway, code, config)
    assert (unmarked.status, unmarked.code) == ("failed", "invalid_input")


@pytest.mark.req("exe.6", "saf.1", "gst.2")
@pytest.mark.parametrize(
    "code",
    [
        "import fs from 'fs'; return 1",
        "return await import('fs')",
        "return require('fs')",
        "return process.env.PATH",
        "return await fetch('http://127.0.0.1/')",
        "return new WebSocket('ws://127.0.0.1/')",
        "return Deno.readTextFileSync('/etc/passwd')",
        "return std.loadFile('/etc/passwd')",
        "return os.readdir('/')",
        "return new Function('return process')()",
        "return globalThis.constructor.constructor('return import(\"fs\")')()",
    ],
)
async def test_modules_files_network_and_environment_cannot_be_reached(
    gateway: Gateway, code: str
) -> None:
    result = await result_of(gateway, code)
    assert isinstance(result, Failed)
    assert os.environ["PATH"] not in result.error


@pytest.mark.req("saf.2", "exe.10")
@pytest.mark.hostile
async def test_an_endless_loop_times_out_and_does_not_block_the_gateway(
    gateway: Gateway,
) -> None:
    async with CodeMode({"enabled": True, "timeoutMs": 600}) as cm:
        await cm.ready()
        run = run_of(cm, gateway)
        started = time.monotonic()
        spinning = asyncio.ensure_future(run.exec({"code": "for (;;) {}"}))
        longest, last = 0.0, time.monotonic()
        while not spinning.done():
            await asyncio.sleep(0.005)
            now = time.monotonic()
            longest, last = max(longest, now - last), now
        result = await spinning
        assert isinstance(result, Failed)
        assert (result.code, result.limit) == ("timeout", "time")
        assert time.monotonic() - started < 0.6 + 0.25 + 0.3
        assert longest < 0.3


@pytest.mark.req("saf.3", "exe.4")
@pytest.mark.hostile
async def test_the_memory_limit_ends_the_vm(gateway: Gateway) -> None:
    code = """
        const kept = [];
        try { for (;;) kept.push(new Uint8Array(1 << 20).fill(1)); } catch { text("survived"); }
        return "survived";
    """
    result = await result_of(gateway, code, {"memoryLimitBytes": 16 << 20})
    assert isinstance(result, Failed)
    assert (result.code, result.limit) == ("internal_error", "memory")
    assert result.output == ()


@pytest.mark.req("gst.3", "snp.2", "wai.6")
async def test_output_and_snapshot_limits_hold_for_completed_and_suspended_cells(
    gateway: Gateway,
) -> None:
    small = {"maxOutputBytes": 1_024, "maxSnapshotBytes": 262_144, "timeoutMs": 1_000}
    at_once = await result_of(gateway, "return 'x'.repeat(2000)", small)
    assert at_once.code == "output_limit_exceeded"
    big = "globalThis.kept = Array.from({length: 40000}, (_, i) => 'item ' + i);"
    snapshot = await result_of(gateway, f"{big} await yield_control(); return 1", small)
    assert snapshot.code == "snapshot_limit_exceeded"
    async with CodeMode({"enabled": True, **small}) as cm:
        run = run_of(cm, gateway)
        code = "text('a'.repeat(600)); await yield_control(); text('b'.repeat(600));"
        first = await run.exec({"code": code})
        assert isinstance(first, Waiting)
        second = await run.wait({"runId": first.run_id})
        assert isinstance(second, Failed)
        assert second.code == "output_limit_exceeded"
        code = f"await yield_control(); {big} await yield_control(); return 1"
        first = await run.exec({"code": code})
        assert isinstance(first, Waiting)
        second = await run.wait({"runId": first.run_id})
        assert isinstance(second, Failed)
        assert second.code == "snapshot_limit_exceeded"


@pytest.mark.req("wai.1")
async def test_wait_resumes_a_suspended_snapshot_and_gives_the_final_value(
    gateway: Gateway,
) -> None:
    async with CodeMode({"enabled": True, "timeoutMs": 500}) as cm:
        await cm.ready()
        run = run_of(cm, gateway)
        first = await run.exec(SLOW)
        assert isinstance(first, Waiting)
        gateway.release.set()
        last = await run.wait({"runId": first.run_id})
        assert isinstance(last, Completed)
        assert last.value == {"slow": {}}


@pytest.mark.req("wai.2", "wai.5")
async def test_expired_aborted_foreign_and_unknown_run_ids_fail(gateway: Gateway) -> None:
    config = {"enabled": True, "timeoutMs": 500, "snapshotTtlSeconds": 1}
    async with CodeMode(config) as cm:
        await cm.ready()
        run = run_of(cm, gateway)
        foreign = run_of(cm, gateway, scope=Scope(agent_id="main", session_id="s2"))

        async def refused(by: CodeModeRun, run_id: str) -> str:
            result = await by.wait({"runId": run_id})
            assert isinstance(result, Failed)
            assert result.code == "invalid_input"
            return result.error

        assert "unavailable or expired" in await refused(run, "cm_unknown")
        first = await run.exec({"code": "await yield_control(); return 5"})
        assert isinstance(first, Waiting)
        assert "different session" in await refused(foreign, first.run_id)
        # The refused wait has left it to its owner.
        owned = await run.wait({"runId": first.run_id})
        assert isinstance(owned, Completed)
        assert owned.value == 5
        second = await run.exec({"code": "await yield_control(); return 5"})
        assert isinstance(second, Waiting)
        await run.abort(second.run_id)
        assert "unavailable or expired" in await refused(run, second.run_id)
        third = await run.exec({"code": "await yield_control(); return 5"})
        assert isinstance(third, Waiting)
        await asyncio.sleep(1.2)
        assert "unavailable or expired" in await refused(run, third.run_id)


@pytest.mark.req("tel.3")
async def test_a_kept_transcript_holds_the_control_calls_and_can_be_gone_on_from(
    gateway: Gateway, tmp_path: Any
) -> None:
    path = tmp_path / "transcript.jsonl"
    code = "await yield_control(); return await tools.greet({name: 'Di'})"
    model = ScriptedModel({"exec": code}, lambda seen: {"wait": seen.run_ids[-1]}, "done")
    await gateway.turn(True, model, transcript=Transcript(path))
    again = Transcript(path)
    calls = [call for e in again if e["role"] == "assistant" for call in e["calls"]]
    assert [call["name"] for call in calls] == ["exec", "wait"]
    assert calls[0]["input"] == {"code": code}
    results = [entry["status"] for entry in again if entry["role"] == "tool"]
    assert results == ["waiting", "completed"]
    # A next turn sends all of it to the model again.
    next_model = ScriptedModel(lambda seen: f"{len(seen.results)} results")
    _, answer = await gateway.turn(True, next_model, transcript=again, prompt="and?")
    assert answer == "2 results"


@pytest.mark.req("tel.1", "tel.2", "tel.3")
async def test_transcript_and_telemetry_show_nested_calls(gateway: Gateway) -> None:
    code = """
        const [tool] = await tools.search("greet");
        await tools.describe(tool.id);
        await Promise.all([tools.greet({name: "Ed"}), tools.greet({name: "Flo"})]);
    """
    agent, _ = await gateway.turn(True, ScriptedModel({"exec": code}, "done"))
    nested = agent.transcript.nested_of("call-1")
    assert [(n["tool"], n["input"]["name"], n["outcome"]) for n in nested] == [
        ("openclaw:core:greet", "Ed", "ok"),
        ("openclaw:core:greet", "Flo", "ok"),
    ]
    metadata = agent.run.metadata
    assert metadata["bridgeCalls"] == {"search": 1, "describe": 1, "call": 2}
    assert metadata["assistantTurns"] == 2
    result = await result_of(gateway, code)
    assert result.telemetry["callCount"] == 2
    assert result.telemetry["sources"] == {"openclaw": 4, "mcp": 1, "client": 1}
    assert result.telemetry["visibleTools"] == ["exec", "wait", "screenshot"]
