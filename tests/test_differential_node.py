"""Generated pure programs give the same JSON text in node and in a cell."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from typing import Any

import pytest
from tests.guest.programs import programs

from codemode import CodeMode, Completed, Tool

COUNT = int(os.environ.get("CODEMODE_TEST_PROGRAMS", "600"))
SEED = int(os.environ.get("CODEMODE_TEST_SEED", "1"))

# Programs of one batch run one after another; each prints the JSON text of its value.
NODE = """
const AsyncFunction = (async () => {}).constructor;
let input = "";
process.stdin.on("data", (d) => (input += d)).on("end", async () => {
  const out = [];
  for (const source of JSON.parse(input)) {
    try { out.push(await new AsyncFunction(source)()); } catch (e) { out.push(`threw ${e}`); }
  }
  process.stdout.write(JSON.stringify(out));
});
"""


def as_text(body: str) -> str:
    return f"return JSON.stringify(await (async () => {{\n{body}\n}})());"


def in_node(node: str, sources: list[str]) -> list[Any]:
    done = subprocess.run(
        [node, "-e", NODE],
        input=json.dumps(sources),
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
        env={"TZ": "UTC", "PATH": os.environ.get("PATH", "")},
    )
    return list(json.loads(done.stdout))


def is_recent(node: str) -> bool:
    # Regexes with the flag v are the newest thing that the programs use: node 20.
    probe = "new RegExp('[a--b]', 'v'); [].toSorted()"
    return subprocess.run([node, "-e", probe], capture_output=True, check=False).returncode == 0


@pytest.mark.req("exe.5", "gst.2", "gst.4")
async def test_generated_programs_give_the_same_json_as_in_node() -> None:
    node = shutil.which("node")
    if node is None or not is_recent(node):
        pytest.skip("needs node 20 or newer")
    cases = programs(COUNT, SEED)
    sources = [as_text(body) for _, body in cases]
    wanted = in_node(node, sources)
    differ = []
    async with CodeMode({"enabled": True}) as cm:
        run = cm.run([Tool(name="nothing", execute=lambda *_: None)])
        for (name, body), source, want in zip(cases, sources, wanted, strict=True):
            result = await run.exec({"code": source})
            got = result.value if isinstance(result, Completed) else result.to_dict()
            if got != want:
                differ.append(f"{name}\n{body}\nnode:  {want}\nguest: {got}")
    assert len(wanted) == COUNT
    assert not any(str(w).startswith("threw") for w in wanted)
    assert not differ, f"{len(differ)} of {COUNT} differ\n\n" + "\n\n".join(differ[:5])
