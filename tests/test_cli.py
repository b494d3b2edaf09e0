from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DEMO_TOOLS = "codemode.cli.demo_tools:demo_tools"


def codemode(*arguments: str, text: str | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "import sys; from codemode.cli import main; sys.exit(main())"]
    return subprocess.run(
        [*command, *arguments], input=text, capture_output=True, text=True, timeout=60, check=False
    )


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
        (("tools", "list"), "--tools"),
        (("tools", "search", "--tools", DEMO_TOOLS), "words"),
    ],
)
def test_wrong_use_is_told_in_a_line_with_status_2(arguments: tuple[str, ...], words: str) -> None:
    done = codemode(*arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_a_catalog_can_be_looked_into_as_a_program_sees_it() -> None:
    listed = codemode("tools", "list", "--tools", DEMO_TOOLS).stdout.splitlines()
    assert len(listed) == 38
    found = codemode("tools", "search", "credit", "--tools", DEMO_TOOLS).stdout
    assert found.startswith("openclaw:core:run_credit_check  { customers: string[] }")
    described = json.loads(
        codemode("tools", "describe", "get_customer", "--tools", DEMO_TOOLS).stdout
    )
    assert described["parameters"]["required"] == ["id"]
