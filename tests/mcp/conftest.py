"""Real servers from npm, installed once into a cache outside the repository."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

NPM_PACKAGES = (
    "@modelcontextprotocol/server-everything@2026.8.31",
    "@modelcontextprotocol/server-filesystem@2026.8.31",
    "@modelcontextprotocol/server-memory@2026.8.31",
    "@modelcontextprotocol/conformance@0.1.16",
    "@modelcontextprotocol/inspector@0.15.0",
    "@modelcontextprotocol/sdk@1.32.2",
    "node@22.23.3",  # the conformance suite needs it
)


@pytest.fixture(scope="session")
def npm_bin() -> Path:
    """Where the programs of `NPM_PACKAGES` are. `CODEMODE_NPM_CACHE` chooses the cache."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed")
    root = Path(
        os.environ.get("CODEMODE_NPM_CACHE") or Path(tempfile.gettempdir()) / "codemode-npm"
    )
    where = root / hashlib.sha256("\n".join(NPM_PACKAGES).encode()).hexdigest()[:12]
    done = where / "complete"
    if not done.exists():
        where.mkdir(parents=True, exist_ok=True)
        (where / "package.json").write_text("{}")
        install = [npm, "install", "--no-audit", "--no-fund", "--silent", *NPM_PACKAGES]
        ran = subprocess.run(install, cwd=where, capture_output=True, text=True, timeout=600)
        if ran.returncode != 0:
            pytest.skip(f"npm install failed: {ran.stderr[-300:]}")
        done.touch()
    return where / "node_modules" / ".bin"
