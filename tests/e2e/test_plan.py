"""The end-to-end test plan of the source document, step by step, through real workers."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from examples.scripted import ScriptedModel
from tests.e2e.gateway import Gateway

from codemode import CodeMode, Completed, Failed, Waiting
from codemode.store import STORE


@pytest.fixture
async def gateway() -> Gateway:
    return Gateway()


@pytest.mark.req("act.1", "srf.1")
async def test_steps_1_to_3_disabled_the_visible_tools_are_unchanged(gateway: Gateway) -> None:
    model = ScriptedModel({"calls": [("greet", {"name": "Ann"})]}, lambda seen: seen.results[-1])
    agent, answer = await gateway.turn({"enabled": False}, model, tools=gateway.tools[:2])
    assert model.tools_shown(0) == ["greet", "add_note"]
    assert all(a is b for a, b in zip(agent.run.model_tools, gateway.tools, strict=False))
    assert answer == '{"text":"Hello Ann"}'
    assert agent.run.metadata["codeModeEngaged"] is False


@pytest.mark.req("act.1", "act.5", "srf.1")
async def test_steps_4_to_6_enabled_the_model_sees_exec_wait_and_direct_tools(
    gateway: Gateway,
) -> None:
    model = ScriptedModel({"exec": "return 1"}, "done")
    agent, _ = await gateway.turn({"enabled": True}, model)
    assert sorted(model.tools_shown(0)) == ["exec", "screenshot", "wait"]
    assert sorted(model.tools_shown(1)) == ["exec", "screenshot", "wait"]
    assert agent.run.metadata["codeModeEngaged"] is True


@pytest.mark.req("cat.1", "cat.2")
async def test_step_7_all_tools_holds_the_effective_tools_and_no_direct_only_one(
    gateway: Gateway,
) -> None:
    ids = await gateway.value("return ALL_TOOLS.map((tool) => tool.id)")
    assert ids == [
        "client:app:pick_color",
        "openclaw:core:greet",
        "openclaw:core:slow",
        "openclaw:notes:add_note",
        "openclaw:shell:exec",
    ]


@pytest.mark.req("cat.3", "cat.6", "cat.7")
async def test_step_8_core_plugin_and_client_tools_are_found_described_and_called(
    gateway: Gateway,
) -> None:
    value = await gateway.value(
        """
        const [greet] = await tools.search("greet somebody");
        const described = await tools.describe(greet.id);
        const hello = await tools.callValue(greet.id, {name: "Ann"});
        const note = await tools.call("openclaw:notes:add_note", {x: 1});
        const color = await tools.callValue("client:app:pick_color");
        return [greet.id, described.parameters.required, hello, note.result, color];
        """
    )
    assert value == [
        "openclaw:core:greet",
        ["name"],
        {"text": "Hello Ann"},
        {"content": [{"type": "text", "text": "kept"}], "details": {"kept": {"x": 1}}},
        "green",
    ]


@pytest.mark.req("mcp.3")
async def test_step_9_the_declaration_files_describe_the_visible_mcp_tools(
    gateway: Gateway,
) -> None:
    files, text = await gateway.value(
        """
        const { files } = await API.list("mcp");
        return [files.map((f) => f.path), (await API.read("mcp/tracker.d.ts")).content];
        """
    )
    assert files == ["mcp/index.d.ts", "mcp/tracker.d.ts"]
    assert "createIssue" in text
    assert "name: string" in text


@pytest.mark.req("mcp.1", "cat.2")
async def test_step_10_mcp_tools_are_called_in_their_namespace_and_nowhere_else(
    gateway: Gateway,
) -> None:
    value = await gateway.value(
        """
        const result = await MCP.tracker.createIssue({name: "bug"});
        let direct = "called";
        try { await tools.callValue("mcp:tracker:create_issue", {name: "x"}); }
        catch (error) { direct = error.message; }
        return [
          result.content[0].text,
          ALL_TOOLS.filter((tool) => tool.source === "mcp").length,
          Object.keys(tools).some((name) => name.includes("issue")),
          direct,
        ];
        """
    )
    assert value[:3] == ["issue bug", 0, False]
    assert "MCP.<server>.<tool>" in value[3]
    assert gateway.calls == [("create_issue", {"name": "bug"})]


@pytest.mark.req("cat.2")
async def test_step_11_a_denied_tool_is_absent_and_cannot_be_called_by_a_guessed_id(
    gateway: Gateway,
) -> None:
    value = await gateway.value(
        """
        const said = [];
        for (const id of ["openclaw:core:wipe_disk", "wipe_disk"]) {
          try { await tools.callValue(id, {}); } catch (error) { said.push(error.message); }
        }
        return [said, ALL_TOOLS.some((t) => t.name === "wipe_disk"), typeof tools.wipe_disk];
        """
    )
    assert len(value[0]) == 2
    assert all("There is no tool" in text for text in value[0])
    assert value[1] is False
    assert gateway.calls == []


@pytest.mark.req("exe.10", "wai.1", "wai.4")
async def test_steps_12_to_14_a_call_ends_after_waiting_and_the_restored_vm_goes_on(
    gateway: Gateway,
) -> None:
    code = """
        text("before");
        const got = await tools.callValue("slow", {n: 1});
        text("after " + got.slow.n);
        return got;
    """

    def wait(seen: Any) -> Any:
        first = json.loads(seen.results[0])
        assert (first["status"], first["reason"]) == ("waiting", "pending_tools")
        assert first["output"] == [{"type": "text", "text": "before"}]
        gateway.release.set()
        return {"wait": first["runId"]}

    model = ScriptedModel({"exec": code}, wait, lambda seen: seen.results[-1])
    _, answer = await gateway.turn({"enabled": True, "timeoutMs": 1_000}, model)
    last = json.loads(answer)
    assert last["status"] == "completed"
    assert last["value"] == {"slow": {"n": 1}}
    assert last["output"] == [{"type": "text", "text": "after 1"}]
    assert len(STORE) == 0


@pytest.mark.req("wai.5", "saf.3")
@pytest.mark.parametrize("end", ["timeout", "abort", "expiry"])
async def test_step_15_timeout_abort_and_expiry_leave_nothing_behind(
    gateway: Gateway, end: str
) -> None:
    config = {"enabled": True, "timeoutMs": 500, "snapshotTtlSeconds": 1}
    async with CodeMode(config) as cm:
        await cm.ready()
        run = cm.run(gateway.tools)
        slow = "const x = await tools.callValue('slow', {});"
        if end == "timeout":
            result = await run.exec({"code": "tools.callValue('slow', {}); for (;;) {}"})
            assert isinstance(result, Failed)
            assert result.code == "timeout"
        else:
            result = await run.exec({"code": slow})
            assert isinstance(result, Waiting)
            assert len(STORE) == 1
            if end == "abort":
                await run.abort(result.run_id)
            else:
                await _until(lambda: len(STORE) == 0)
            refused = await run.wait({"runId": result.run_id})
            assert isinstance(refused, Failed)
            assert refused.code == "invalid_input"
        assert len(STORE) == 0
        after = await run.exec({"code": "return 7"})
        assert isinstance(after, Completed)
        assert after.value == 7


@pytest.mark.req("tel.3")
async def test_step_16_the_trajectory_shows_nested_calls_below_their_exec(
    gateway: Gateway,
) -> None:
    code = "return await tools.greet({name: 'Ann'})"
    agent, _ = await gateway.turn(True, ScriptedModel({"exec": code}, "done"))
    events = [json.loads(line) for line in agent.run.trajectory.to_jsonl().splitlines()]
    nested = [event for event in events if event.get("parentCallId") == "call-1"]
    assert [event["type"] for event in nested] == ["call_start", "call_end"]
    assert {event["tool"] for event in nested} == {"openclaw:core:greet"}
    outer = [event for event in events if event["callId"] == "call-1"]
    assert outer[0]["toolKind"] == "code_mode_exec"
    assert events.index(outer[0]) < events.index(nested[0]) < events.index(outer[-1])


async def _until(condition: Any, seconds: float = 10.0) -> None:
    end = asyncio.get_running_loop().time() + seconds
    while not condition():
        assert asyncio.get_running_loop().time() < end
        await asyncio.sleep(0.01)
