from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.mcp.helpers import scripted, tools

ROOT = Path(__file__).parent.parent
DEMO_TOOLS = "codemode.cli.demo_tools:demo_tools"


LOOP = "const end = Date.now() + 400; while (Date.now() < end) {} 1"
BROKEN = """
from codemode import tool

@tool
async def good(a: int) -> int: return a
def plain(a: int) -> int: return a
def bare(): return "x"
async def later(): return [good]
both = [good, plain]
def fails(): raise ValueError("no key")
"""


def codemode(
    *arguments: str, text: str | None = None, folder: Path | None = None, before: str = "pass"
) -> subprocess.CompletedProcess[str]:
    program = f"import sys; {before}; from codemode.cli import main; sys.exit(main())"
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        input=text,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd=folder,
    )


def mcp_file(folder: Path, **more: Any) -> str:
    file = folder / "mcp.json"
    server = scripted(pages=[tools("create_issue")], more={"autoApprove": []})
    dead = {"command": "/no/such/program"}
    file.write_text(json.dumps({"mcpServers": {"s": server, "dead": dead}, **more}), "utf-8")
    return str(file)


def readme_example() -> str:
    readme = (ROOT / "README.md").read_text("utf-8")
    return readme.split("```python\n")[1].split("```")[0]


def test_the_example_of_the_readme_runs_as_written() -> None:
    done = subprocess.run(
        [sys.executable, "-c", readme_example()],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert "'status': 'completed', 'value': 5" in done.stdout


def test_the_demonstration_suspends_resumes_and_shows_its_calls() -> None:
    done = codemode("demo")
    assert done.returncode == 0, done.stderr
    for words in ("exec → waiting", "wait → completed", "Nested calls", "Aurora Foods"):
        assert words in done.stdout
    events = [json.loads(line) for line in codemode("demo", "--json").stdout.splitlines()]
    assert sum(e["type"] == "call_end" and "parentCallId" in e for e in events) == 8


@pytest.mark.req("saf.5")
def test_the_doctor_says_what_confines_programs() -> None:
    found = json.loads(codemode("doctor", "--json", "--model", "anthropic/claude-opus-5").stdout)
    assert found["problems"] == []
    assert found["seccomp"].startswith("active")
    assert found["templateBytes"] > 100_000
    assert found['"auto" with anthropic/claude-opus-5'].startswith("engages")


def test_a_program_is_run_from_an_argument_a_file_and_standard_input(tmp_path: Path) -> None:
    done = codemode("exec", "-e", "console.log('hi'); 6 * 7")
    assert (done.returncode, done.stdout) == (0, "hi\n42\n")
    file = tmp_path / "cell.ts"
    file.write_text("const n: number = 1;\nreturn n + 1;", "utf-8")
    assert codemode("exec", str(file)).stdout == "2\n"
    assert codemode("exec", "-", text="return [1]").stdout == "[\n  1\n]\n"


def test_a_program_that_fails_is_told_on_stderr_with_status_1() -> None:
    done = codemode("exec", "-e", "throw new Error('no')")
    assert done.returncode == 1
    assert "failed (internal_error): Error: no" in done.stderr
    whole = json.loads(
        codemode("exec", "--json", "-e", "while (true) {}", "--timeout-ms", "200").stdout
    )
    assert (whole["code"], whole["limit"]) == ("timeout", "time")


@pytest.mark.req("cfg.3")
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("exec", "-e", "1", "--timeout-ms", "5"), "timeout"),
        (("exec", "no-such-file.js"), "no-such-file.js"),
        (("exec", "-e", "1", "--tools", "nothing"), "module:attr"),
        (("exec", "-e", "1", "--tools", "json:dumps2"), "json:dumps2"),
        (("exec", "-e", "1", "--tools", "broken:plain"), "plain is a function with parameters"),
        (("exec", "-e", "1", "--tools", "broken:bare"), "if bare is itself a tool, put @tool"),
        (("exec", "-e", "1", "--tools", "broken:later"), "later is async"),
        (("exec", "-e", "1", "--tools", "broken:fails"), "ValueError: no key (broken.py, line 10)"),
        (("exec", "-e", "1", "--tools", "broken:both"), "both holds plain, which is no Tool"),
        (("exec", "-e", "1", "--tools", "broken:god"), "broken has no god; its tools: good"),
        (("exec", "-e", "1", "--tools", "./pkg/broken.py:good"), "pkg.broken:good, not a path"),
        (("serve", "--tools", ".broken:good"), "broken:good, not a path"),
        (("tools", "list", "--tools", "raises:x"), "RuntimeError: half (raises.py, line 1)"),
        (("tools", "list"), "--tools"),
        (("tools", "search", "--tools", DEMO_TOOLS), "words"),
    ],
)
def test_wrong_use_is_told_in_a_line_with_status_2(
    arguments: tuple[str, ...], words: str, tmp_path: Path
) -> None:
    (tmp_path / "broken.py").write_text(BROKEN, "utf-8")
    (tmp_path / "raises.py").write_text("raise RuntimeError('half\\ndone')", "utf-8")
    done = codemode(*arguments, folder=tmp_path)
    assert done.returncode == 2
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_catalog_can_be_looked_into_as_a_program_sees_it() -> None:
    listed = codemode("tools", "list", "--tools", DEMO_TOOLS).stdout.splitlines()
    assert len(listed) == 38
    found = codemode("tools", "search", "credit", "--tools", DEMO_TOOLS).stdout
    assert found.startswith("openclaw:core:run_credit_check  { customers: string[] }")
    described = json.loads(
        codemode("tools", "describe", "get_customer", "--tools", DEMO_TOOLS).stdout
    )
    assert described["parameters"]["required"] == ["id"]


@pytest.mark.req("mcp.5")
def test_the_tools_of_servers_are_listed_and_described(tmp_path: Path) -> None:
    file = mcp_file(tmp_path)
    done = codemode("tools", "list", "--mcp", file)
    assert done.stdout.startswith("MCP.s.createIssue(input?: ")
    assert "MCP server dead is unavailable: cannot start '/no/such/program'" in done.stderr
    assert "autoApprove is ignored" in done.stderr
    listed = json.loads(codemode("tools", "list", "--mcp", file, "--json").stdout)
    assert [entry["id"] for entry in listed] == ["MCP.s.createIssue"]
    for name in ("mcp:s:create_issue", "MCP.s.createIssue"):
        shown = json.loads(codemode("tools", "describe", name, "--mcp", file).stdout)
        assert shown["inputSchema"] == {"type": "object"}
    found = codemode("tools", "search", "issue", "--mcp", file)
    assert "codemode tools list" in found.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("describe", "nope"), "there is no tool nope; see: codemode tools list"),
        (("dts",), "only MCP servers (--mcp) have such files; see: codemode tools list"),
    ],
)
def test_what_is_not_in_a_catalog_is_told_in_words_of_the_command(
    arguments: tuple[str, ...], words: str
) -> None:
    done = codemode("tools", *arguments, "--tools", DEMO_TOOLS)
    assert (done.returncode, done.stderr) == (1, f"codemode tools: {words}\n")


@pytest.mark.req("cfg.3")
def test_the_settings_of_the_file_hold_for_exec_and_are_checked_by_tools(tmp_path: Path) -> None:
    file = mcp_file(tmp_path, codeMode={"timeoutMs": 200})
    done = codemode("exec", "--mcp", file, "-e", "while (true) {}")
    assert "limit: time" in done.stderr
    longer = codemode("exec", "--mcp", file, "--timeout-ms", "5000", "-e", LOOP)
    assert (longer.returncode, longer.stdout) == (0, "1\n")
    file = mcp_file(tmp_path, codeMode={"bogus": 1})
    for command in (("exec", "-e", "1"), ("tools", "list")):
        refused = codemode(*command, "--mcp", file)
        assert refused.returncode == 2
        assert "bogus" in refused.stderr


@pytest.mark.parametrize("command", [("exec", "-e", "1"), ("tools", "list"), ("serve",)])
@pytest.mark.parametrize("package", ["mcp", "anyio"])
def test_a_missing_extra_is_named_with_what_to_do(
    command: tuple[str, ...], package: str, tmp_path: Path
) -> None:
    hidden = f"sys.modules[{package!r}] = None"
    done = codemode(*command, "--mcp", mcp_file(tmp_path), before=hidden)
    assert done.returncode == 2
    assert 'pip install "codemode[mcp]"' in done.stderr
    assert len(done.stderr.splitlines()) == 1
