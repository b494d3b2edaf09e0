"""Other runtimes, each in an environment of its own that is made here, each optional.

Which figures a peer gives is up to its script in `peer_scripts/`, which prints one JSON object:
`{row: figure}`. What does not install or run is named in the table, with the reason.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

SCRIPTS = Path(__file__).parent / "peer_scripts"
HOME = Path(os.environ.get("CODEMODE_PEERS", Path(tempfile.gettempdir()) / "codemode-peers"))
PYTHON = {
    "modebox": "modebox_peer.py",
    "pydantic-monty": "monty_peer.py",
    "jsbox": "jsbox_peer.py",
    "quickjs-rs": "quickjs_rs_peer.py",
}
NODE = {"quickjs-wasi": "quickjs_wasi.mjs", "run": "run.mjs"}
NAMES = (*PYTHON, *NODE)
_PATIENCE_S = 300


class Missing(Exception):
    """A peer that cannot be measured here; says why."""


def figures(name: str, rounds: int) -> dict[str, float]:
    """Installs a peer if need be, and measures it.

    Raises:
        Missing: It is not here.
    """
    HOME.mkdir(parents=True, exist_ok=True)
    if name in PYTHON:
        command = [str(_python(name)), str(SCRIPTS / PYTHON[name])]
        where = HOME
    else:
        where = _node(name)
        script = where / NODE[name]
        shutil.copy(SCRIPTS / NODE[name], script)
        command = ["node", str(script)]
    out = _run([*command, str(rounds)], where)
    try:
        found: dict[str, float] = json.loads(out.strip().splitlines()[-1])
    except (ValueError, IndexError):
        raise Missing(f"its script printed {out[-200:]!r}") from None
    return found


def _python(name: str) -> Path:
    home = HOME / name
    python = home / "bin" / "python"
    if not (home / "installed").exists():
        venv.create(home, with_pip=True, clear=True)
        _run([str(python), "-m", "pip", "install", "-q", "--only-binary", ":all:", name], home)
        (home / "installed").touch()
    return python


def _node(name: str) -> Path:
    if shutil.which("npm") is None:
        raise Missing("there is no npm")
    home = HOME / f"node-{name}"
    if not (home / "installed").exists():
        home.mkdir(exist_ok=True)
        (home / "package.json").write_text('{"type": "module"}', "utf-8")
        _run(["npm", "install", "--no-audit", "--no-fund", name], home)
        (home / "installed").touch()
    return home


def _run(command: list[str], where: Path) -> str:
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    environment["PYTHONPATH"] = str(Path(__file__).parent.parent)
    try:
        done = subprocess.run(
            command,
            cwd=where,
            env=environment,
            capture_output=True,
            text=True,
            timeout=_PATIENCE_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise Missing(f"it took longer than {_PATIENCE_S} s") from None
    except OSError as error:
        raise Missing(str(error)) from None
    if done.returncode:
        words = (done.stderr or done.stdout).strip().splitlines() or [f"exit {done.returncode}"]
        raise Missing(words[-1][:200])
    return done.stdout


if __name__ == "__main__":
    for peer in sys.argv[1:] or NAMES:
        try:
            print(peer, figures(peer, 15))
        except Missing as why:
            print(peer, "missing:", why)
