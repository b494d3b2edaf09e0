"""Nodes, plugin namespaces, skills and swarm, through real workers."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from codemode import CodeMode, Completed, Failed, Hooks, NeedsApproval, Scope, Tool, Waiting
from codemode.extensions import (
    Bind,
    ChildFailed,
    ChildRequest,
    ChildResult,
    DirectorySkills,
    Limits,
    Namespace,
    Namespaces,
    Nodes,
    Swarm,
    skill_namespace,
    skill_tools,
)

if TYPE_CHECKING:
    from pathlib import Path

DEVICES = [
    {"id": "n1", "name": "phone", "platform": "ios", "commands": ["device.status"]},
    {"id": "n2", "name": "n1", "platform": "linux", "commands": ["fs.listDir"]},
    {"id": "n3", "name": "twin", "commands": []},
    {"id": "n4", "name": "twin", "commands": []},
]


async def devices(given: Any, _: Any) -> Any:
    return DEVICES if given["action"] == "list" else given


NODES = Tool(name="nodes", execute=devices)


async def value(run: Any, code: str, **more: Any) -> Any:
    result = await run.exec({"code": code, **more})
    assert isinstance(result, Completed), result
    return result.value


@pytest.mark.req("ns.1", "gst.1")
async def test_nodes_are_listed_found_and_invoked_over_the_nodes_tool(make_run: Any) -> None:
    run = make_run([NODES], extensions=[Nodes()])
    got = await value(
        run,
        """
        const list = await nodes.list();
        const byId = await nodes.get("n1");
        const byName = await nodes.get("phone");
        const files = await nodes.get("n2");
        return {
          ids: list.map((n) => n.id),
          keys: [Object.keys(byId), Object.keys(files)],
          same: byId.id === byName.id,
          status: await byId.invoke("device.status"),
          dir: await files.listDir("/tmp"),
          frozen: Object.isFrozen(nodes) && Object.isFrozen(byId),
        };
        """,
    )
    assert got == {
        "ids": ["n1", "n2", "n3", "n4"],
        "keys": [["id", "name", "invoke"], ["id", "name", "invoke", "listDir"]],
        "same": True,
        "status": {"action": "invoke", "node": "n1", "command": "device.status"},
        "dir": {
            "action": "invoke",
            "node": "n2",
            "command": "fs.listDir",
            "params": {"path": "/tmp"},
        },
        "frozen": True,
    }


@pytest.mark.req("ns.1")
async def test_an_unknown_or_ambiguous_node_is_an_error_that_names_ids(make_run: Any) -> None:
    run = make_run([NODES], extensions=[Nodes()])
    code = """
        const said = [];
        for (const name of ["nope", "twin", 5]) {
          try { await nodes.get(name); } catch (error) { said.push(error.message); }
        }
        try { await (await nodes.get("n3")).invoke(7); } catch (e) { said.push(e.message); }
        return said;
    """
    said = await value(run, code)
    assert "n1, n2" in said[0]
    assert "ids: n3, n4" in said[1]
    assert "no node" in said[2]
    assert "command must be a string" in said[3]


@pytest.mark.req("ns.1", "gst.1")
async def test_without_the_tool_there_is_no_nodes_global(make_run: Any) -> None:
    assert await value(make_run(extensions=[Nodes()]), "return typeof nodes") == "undefined"


@pytest.mark.req("ns.1", "cat.8")
async def test_nodes_calls_pass_hooks_and_restart_safety(make_run: Any) -> None:
    class Ask(Hooks):
        asked: list[Any] = []  # noqa: RUF012

        def before_tool_call(self, event: Any) -> Any:
            if event.name == "nodes" and event.input["action"] == "invoke":
                return NeedsApproval(event.input["command"])
            return None

        async def approve(self, event: Any, prompt: str) -> bool:
            self.asked.append(prompt)
            return False

    run = make_run([NODES], extensions=[Nodes()], hooks=Ask())
    code = "return await (await nodes.get('n1')).invoke('lock').catch((e) => e.message)"
    assert "a person denied it" in await value(run, code)
    assert Ask.asked == ["lock"]
    result = await run.exec({"code": "return await nodes.list()", "restartSafe": True})
    assert isinstance(result, Waiting)
    result = await run.wait({"runId": result.run_id})
    assert isinstance(result, Failed)
    assert "restart-safe" in result.error


async def send(given: Any, _: Any) -> Any:
    return {"sent": given}


MAIL = (
    Tool(name="send_mail", execute=send, owner="mail"),
    Tool(name="other", execute=send, owner="other"),
)
SCOPE = {
    "send": Bind("send_mail", ("to", "text")),
    "raw": Bind("send_mail"),
    "limits": {"perDay": 5, "hosts": ["a"]},
}


@pytest.mark.req("ns.2", "gst.1")
async def test_a_namespace_has_data_and_functions_and_is_frozen(make_run: Any) -> None:
    mail = Namespace(name="mail", owner="mail", scope=SCOPE)
    run = make_run(MAIL, extensions=[Namespaces([mail])])
    got = await value(
        run,
        """
        let wrote = "";
        try { "use strict"; mail.limits.perDay = 9; } catch { wrote = "refused"; }
        return [
          await mail.send("ann", "hi"),
          await mail.send({to: "bo"}),
          await mail.raw({x: 1}),
          mail.limits.perDay, mail.limits.hosts,
          namespaces.mail === mail, Object.isFrozen(mail), Object.isFrozen(namespaces),
          await mail.raw(1, 2).catch((e) => e.message),
        ];
        """,
    )
    assert got == [
        {"sent": {"to": "ann", "text": "hi"}},
        {"sent": {"to": "bo"}},
        {"sent": {"x": 1}},
        5,
        ["a"],
        True,
        True,
        True,
        "mail.raw takes one input object, not 2 arguments.",
    ]
    assert run.metadata["bridgeCalls"]["call"] == 3
    assert "Also there: mail" in run.model_tools[0].description


@pytest.mark.req("ns.2")
async def test_a_namespace_needs_all_its_tools_and_only_its_owners_count(make_run: Any) -> None:
    foreign = Namespace(name="foreign", owner="mail", scope={"f": Bind("other")})
    run = make_run(MAIL, extensions=[Namespaces([foreign])])
    assert await value(run, "return [typeof foreign, Object.keys(namespaces)]") == ["undefined", []]


@pytest.mark.req("ns.2")
@pytest.mark.parametrize(
    ("name", "scope"),
    [
        ("tools", {}),
        ("Promise", {}),
        ("class", {}),
        ("exec", {}),
        ("wait", {}),
        ("codemode", {}),
        ("a-b", {}),
        ("", {}),
        ("x", {"then": 1}),
        ("x", {"__proto__": 1}),
        ("x", {"a": object()}),
        ("x", {"a": float("nan")}),
    ],
)
def test_a_reserved_name_or_a_scope_that_is_no_data_is_refused(name: str, scope: Any) -> None:
    with pytest.raises(ValueError, match="namespace"):
        Namespace(name=name, owner="p", scope=scope)


@pytest.mark.req("ns.2")
def test_a_scope_that_is_too_deep_is_refused() -> None:
    def nested(levels: int) -> Any:
        return {"a": nested(levels - 1)} if levels else 1

    Namespace(name="x", owner="p", scope=nested(8))
    with pytest.raises(ValueError, match="deeper"):
        Namespace(name="x", owner="p", scope=nested(9))


@pytest.mark.req("ns.2")
@pytest.mark.parametrize(
    "tools",
    [
        (),
        (Tool(name="extra", execute=send, owner="mail", source="client"),),
        (
            Tool(name="extra", execute=send, owner="mail", description="one"),
            Tool(name="extra", execute=send, owner="mail", description="two"),
        ),
    ],
    ids=["missing", "of a client", "two of one name"],
)
async def test_a_namespace_is_left_out_whole_if_one_tool_is_not_the_plugins_own(
    make_run: Any, tools: tuple[Tool, ...]
) -> None:
    scope = {"send": Bind("send_mail"), "extra": Bind("extra")}
    mail = Namespace(name="mail", owner="mail", scope=scope)
    run = make_run([*MAIL, *tools], extensions=[Namespaces([mail])])
    assert await value(run, "return [typeof mail, Object.keys(namespaces)]") == ["undefined", []]


@pytest.mark.req("ns.2")
async def test_arguments_by_position_are_counted_and_a_single_one_may_be_an_object(
    make_run: Any,
) -> None:
    scope = {"two": Bind("send_mail", ("to", "text")), "one": Bind("send_mail", ("input",))}
    mail = Namespace(name="mail", owner="mail", scope=scope)
    run = make_run(MAIL, extensions=[Namespaces([mail])])
    code = """
        const said = await mail.two("a", "b", "c").catch((e) => e.message);
        return [said, await mail.one({x: 1}), await mail.two()];
    """
    said, one, none = await value(run, code)
    assert said == "mail.two takes at most 2 arguments."
    assert one == {"sent": {"input": {"x": 1}}}
    assert none == {"sent": {}}
    assert run.metadata["bridgeCalls"]["call"] == 2


def test_a_name_is_registered_once() -> None:
    one = Namespace(name="x", owner="p", scope={})
    with pytest.raises(ValueError, match="twice"):
        Namespaces([one, one])


@pytest.mark.req("ns.2")
async def test_skills_are_listed_and_read_and_names_are_never_paths(
    make_run: Any, tmp_path: Path
) -> None:
    for name, head in (("pdf", "---\nname: pdf\ndescription: 'Fills forms.'\n---\n"), ("raw", "")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "SKILL.md").write_text(f"{head}# {name}\n")
    (tmp_path / "secret.txt").write_text("secret")
    tools = skill_tools(DirectorySkills(tmp_path))
    run = make_run(tools, extensions=[Namespaces([skill_namespace()])])
    code = """
        return [
          await skills.list(),
          (await skills.read("pdf")).split("\\n").at(-2),
          await skills.read("../secret.txt").catch((e) => e.message),
        ];
    """
    listed, text, refused = await value(run, code)
    assert listed == [
        {"name": "pdf", "description": "Fills forms."},
        {"name": "raw", "description": ""},
    ]
    assert text == "# pdf"
    assert "no skill" in refused
    assert "pdf, raw" in refused


class Children:
    """A spawner that does as the prompt says."""

    def __init__(self) -> None:
        self.requests: list[ChildRequest] = []
        self.live = self.most = 0
        self.release = asyncio.Event()

    async def spawn(self, request: ChildRequest) -> ChildResult:
        self.requests.append(request)
        self.live += 1
        self.most = max(self.most, self.live)
        try:
            if request.prompt == "block":
                await self.release.wait()
            await asyncio.sleep(0.02)
            if request.prompt == "fail":
                raise ChildFailed("it broke", run_id="c9", status="crashed")
            return ChildResult(run_id="c1", text=f"did {request.prompt}")
        finally:
            self.live -= 1


@pytest.mark.req("ns.3", "gst.1")
async def test_children_give_their_text_and_options_reach_the_spawner(make_run: Any) -> None:
    children = Children()
    notes: list[tuple[str, str]] = []
    swarm = Swarm(children, on_note=lambda kind, text: notes.append((kind, text)))
    run = make_run(extensions=[swarm])
    code = """
        phase("research"); log({n: 1});
        const options = {label: "A", model: "m", thinking: "low", agentId: "x", fastMode: true};
        return await Promise.all([agents.run("one", options), agents.run("two", {phase: "p2"})]);
    """
    assert await value(run, code) == ["did one", "did two"]
    first, second = children.requests
    assert (first.label, first.model, first.thinking, first.agent_id) == ("A", "m", "low", "x")
    assert (first.fast_mode, first.phase, second.phase) == (True, "research", "p2")
    assert notes == [("phase", "research"), ("log", '{"n": 1}')]
    nested = [e for e in run.trajectory if e.get("name") == "agents.run"]
    assert len(nested) == 4
    assert "agents.run" in run.model_tools[0].description


@pytest.mark.req("ns.3")
async def test_a_failed_child_rejects_with_its_run_id_and_status(make_run: Any) -> None:
    run = make_run(extensions=[Swarm(Children())])
    code = """
        try { await agents.run("fail"); }
        catch (e) { return [e.name, e.message, e.runId, e.status]; }
    """
    assert await value(run, code) == ["SwarmAgentError", "it broke", "c9", "crashed"]


class Saying:
    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)

    async def spawn(self, request: ChildRequest) -> ChildResult:
        answer = self.answers.pop(0)
        if isinstance(answer, str):
            return ChildResult(run_id="c", text=answer)
        return ChildResult(run_id="c", value=answer)


@pytest.mark.req("ns.3")
async def test_with_a_schema_the_value_is_structured_and_checked(make_run: Any) -> None:
    says = Saying({"n": 1}, '```json\n{"n": 2}\n```', "no json", {"n": "x"})
    run = make_run(extensions=[Swarm(says)])
    code = """
        const schema = {type: "object", properties: {n: {type: "integer"}}, required: ["n"]};
        const out = [];
        for (let i = 0; i < 4; i++) {
          out.push(await agents.run("p" + i, {schema}).catch((e) => e.status));
        }
        return out;
    """
    assert await value(run, code) == [{"n": 1}, {"n": 2}, "invalid_output", "invalid_output"]


@pytest.mark.req("ns.3")
async def test_wrong_arguments_are_refused_before_a_child_is_spawned(make_run: Any) -> None:
    children = Children()
    run = make_run(extensions=[Swarm(children)])
    code = """
        const said = [];
        for (const args of [[], [5], ["p", "o"], ["p", {nope: 1}], ["p", {label: 1}],
                            ["p", {schema: {type: "nope"}}]]) {
          said.push(await agents.run(...args).then(() => "ran", (e) => e.message));
        }
        return said;
    """
    said = await value(run, code)
    assert "ran" not in said
    assert "options: label" in said[3]
    assert children.requests == []


@pytest.mark.req("ns.3")
async def test_concurrency_live_children_and_total_are_bounded(make_run: Any) -> None:
    children = Children()
    limits = Limits(concurrency=2, live_per_group=4, total=6)
    run = make_run(extensions=[Swarm(children, limits=limits)], config={"maxPendingToolCalls": 32})
    code = """
        const start = (n, name) => Array.from({length: n}, (_, i) => agents.run(name + i));
        const all = await Promise.allSettled(start(5, "a"));
        const more = await Promise.allSettled(start(3, "b"));
        return [...all, ...more].map((r) => r.reason ? r.reason.status : "ok");
    """
    assert await value(run, code) == ["ok"] * 4 + ["rejected"] + ["ok"] * 2 + ["rejected"]
    assert children.most == 2


@pytest.mark.req("ns.3")
async def test_a_child_that_takes_too_long_is_cancelled(make_run: Any) -> None:
    children = Children()
    run = make_run(extensions=[Swarm(children, limits=Limits(wait_s=0.05))])
    code = "return await agents.run('block').catch((e) => [e.name, e.status])"
    assert await value(run, code) == ["SwarmAgentError", "timeout"]
    assert children.live == 0


@pytest.mark.req("ns.3")
async def test_replaying_a_cell_does_not_spawn_again(make_run: Any) -> None:
    children = Children()
    journal: dict[str, Any] = {}
    code = "return [await agents.run('one'), await agents.run('fail').catch((e) => e.status)]"
    for _ in range(2):
        # The second run is a new one, as after a restart; the call of the model is the same.
        run = make_run(extensions=[Swarm(children, journal=journal)])
        result = await run.exec({"code": code}, call_id="toolu_1")
        assert isinstance(result, Completed)
        assert result.value == ["did one", "crashed"]
    assert len(children.requests) == 2
    result = await run.exec({"code": code}, call_id="toolu_2")
    assert len(children.requests) == 4


@pytest.mark.req("ns.3")
async def test_a_provider_that_uses_its_call_ids_again_gets_new_children(make_run: Any) -> None:
    children = Children()
    journal: dict[str, Any] = {}
    code = {"code": "return await agents.run('one')"}
    for _ in range(2):
        run = make_run(extensions=[Swarm(children, journal=journal)])
        for _ in range(3):
            assert (await run.exec(code, call_id="call_0")).value == "did one"
        # The second round is that after a restart: it finds all three.
        assert len(children.requests) == 3
    assert len({request.key for request in children.requests}) == 3


@pytest.mark.req("ns.3")
async def test_another_scope_with_the_same_journal_spawns_its_own_children(make_run: Any) -> None:
    children = Children()
    journal: dict[str, Any] = {}
    for session in ("s1", "s2"):
        swarm = Swarm(children, journal=journal)
        run = make_run(extensions=[swarm], scope=Scope(session_id=session))
        await run.exec({"code": "return await agents.run('one')"}, call_id="toolu_1")
    assert len(children.requests) == 2
    assert len({request.key for request in children.requests}) == 2


@pytest.mark.req("ns.3")
async def test_a_replay_while_the_child_still_runs_joins_it(make_run: Any) -> None:
    children = Children()
    run = make_run(extensions=[Swarm(children)])
    code = {"code": "return await agents.run('block')"}
    running = [asyncio.ensure_future(run.exec(code, call_id="toolu_1")) for _ in range(2)]
    while sum(e.get("name") == "agents.run" for e in run.trajectory) < 2:  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    await asyncio.sleep(0)
    assert children.live == 1
    children.release.set()
    assert [(await one).value for one in running] == ["did block"] * 2
    assert len(children.requests) == 1


@pytest.mark.req("ns.3")
async def test_the_time_of_a_child_begins_when_it_runs_not_when_it_queues() -> None:
    class Slow:
        async def spawn(self, request: ChildRequest) -> ChildResult:
            await asyncio.sleep(0.1)
            return ChildResult(run_id="c", text="done")

    limits = Limits(concurrency=1, wait_s=0.35)
    async with CodeMode(True) as cm:
        run = cm.run(extensions=[Swarm(Slow(), limits=limits)])
        code = "return await Promise.all([1, 2, 3, 4, 5].map((n) => agents.run(`p${n}`)))"
        assert await value(run, code) == ["done"] * 5


@pytest.mark.req("ns.3")
async def test_live_children_are_counted_for_each_exec(make_run: Any) -> None:
    children = Children()
    run = make_run(extensions=[Swarm(children, limits=Limits(live_per_group=1))])
    code = {"code": "return await agents.run('block')"}
    running = [asyncio.ensure_future(run.exec(code, call_id=f"toolu_{n}")) for n in range(2)]
    while len(children.requests) < 2 and not any(o.done() for o in running):  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    children.release.set()
    assert [(await one).status for one in running] == ["completed"] * 2
    assert {request.group for request in children.requests} == {"toolu_0", "toolu_1"}


@pytest.mark.req("ns.3")
async def test_notes_are_bounded_and_a_listener_that_raises_fails_no_program(
    make_run: Any, caplog: pytest.LogCaptureFixture
) -> None:
    notes: list[str] = []

    def on_note(kind: str, text: str) -> None:
        notes.append(text)
        raise RuntimeError("no screen")

    run = make_run(extensions=[Swarm(Children(), on_note=on_note)])
    assert await value(run, "phase('x'.repeat(5000)); await log('b'); return 1") == 1
    assert [len(text) for text in notes] == [2_000, 1]
    assert caplog.text.count("on_note raised") == 2


@pytest.mark.req("ns.3")
async def test_aborting_the_program_cancels_its_children(make_run: Any) -> None:
    children = Children()
    run = make_run(extensions=[Swarm(children)], config={"timeoutMs": 1_000})
    result = await run.exec({"code": "return await agents.run('block')"})
    assert isinstance(result, Waiting)
    assert children.live == 1
    await run.abort(result.run_id)
    assert children.live == 0


@pytest.mark.req("ns.3", "exe.15")
async def test_a_restart_safe_program_spawns_nothing(make_run: Any) -> None:
    children = Children()
    run = make_run(extensions=[Swarm(children)])
    result = await run.exec({"code": "return await agents.run('x')", "restartSafe": True})
    assert isinstance(result, Waiting)
    result = await run.wait({"runId": result.run_id})
    assert isinstance(result, Failed)
    assert "restart-safe" in result.error
    assert children.requests == []


@pytest.mark.req("ns.3", "mcp.3", "gst.1")
async def test_swarm_is_off_unless_enabled_and_declared_when_it_is(make_run: Any) -> None:
    off = "return [typeof agents, typeof phase, typeof log, (await API.list()).files.length]"
    assert await value(make_run(), off) == ["undefined", "undefined", "undefined", 0]
    on = """
        const { files } = await API.list();
        const file = await API.read("agents.d.ts");
        return [files.map((f) => f.path), file.bytes === file.content.length, file.content];
    """
    paths, sized, text = await value(make_run(extensions=[Swarm(Children())]), on)
    assert paths == ["agents.d.ts"]
    assert sized is True
    assert "schema?: object" in text


@pytest.mark.req("saf.2")
async def test_a_schema_that_takes_long_to_compile_is_refused(make_run: Any) -> None:
    async def children(request: Any) -> Any:
        raise AssertionError("no child is to be run")

    run = make_run(extensions=[Swarm(children)])
    result = await run.exec(
        {
            "code": """
            const schema = { anyOf: Array.from({ length: 20000 }, () => ({ type: "string" })) }
            try { await agents.run("do it", { schema }) } catch (e) { return e.message }
            """
        }
    )
    assert "schema is longer than 65536 characters" in result.value
