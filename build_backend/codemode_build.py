"""PEP 517 backend: builds the worker binary, then lets maturin build the rest.

The wheel carries two things made of Rust: the extension module `codemode._engine`, which is
maturin's business, and the executable `codemode-worker`, in which guest code runs. This backend
builds the executable, puts it under `python/codemode/bin/` where maturin picks it up, and
hands over.

Environment:
    CODEMODE_WORKER: path of a ready-made worker to take instead of building one, or `none` for a
        package without it, which answers every cell with `runtime_unavailable`.
    CARGO_TARGET_DIR, RUSTFLAGS, CARGO_ENCODED_RUSTFLAGS: as cargo has them.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import platform
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import maturin

ROOT = Path(__file__).resolve().parent.parent
WORKER = ROOT / "python" / "codemode" / "bin" / "codemode-worker"

# An image of a suspended VM holds addresses of functions, and is restored in another process:
# they must be the same in all of them. A static executable without relocation is also what
# a confined process needs least for its start.
WORKER_FLAGS = ("-C", "target-feature=+crt-static", "-C", "relocation-model=static")

CONFINABLE = ("x86_64", "amd64", "aarch64", "arm64")

Settings = dict[str, Any] | None


def build_wheel(
    wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None
) -> str:
    """Builds a wheel with the worker in it."""
    _put_worker()
    return maturin.build_wheel(wheel_directory, config_settings, metadata_directory)


def build_editable(
    wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None
) -> str:
    """Builds a wheel that points at this tree; module and worker are put into the tree."""
    _put_worker()
    return maturin.build_editable(wheel_directory, config_settings, metadata_directory)


def build_sdist(sdist_directory: str, config_settings: Settings = None) -> str:
    """Builds a source distribution: everything that `build_wheel` needs."""
    _need_cargo()
    name = maturin.build_sdist(sdist_directory, config_settings)
    _restore_workspace(Path(sdist_directory) / name)
    return name


def prepare_metadata_for_build_wheel(
    metadata_directory: str, config_settings: Settings = None
) -> str:
    """Writes the metadata without building anything."""
    _need_cargo()
    return maturin.prepare_metadata_for_build_wheel(metadata_directory, config_settings)


prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel


def get_requires_for_build_wheel(config_settings: Settings = None) -> list[str]:
    """Nothing: cargo comes from the system, it is not fetched behind the user's back."""
    del config_settings
    return []


get_requires_for_build_editable = get_requires_for_build_wheel
get_requires_for_build_sdist = get_requires_for_build_wheel


def _put_worker() -> None:
    _need_cargo()
    WORKER.unlink(missing_ok=True)
    given = os.environ.get("CODEMODE_WORKER")
    if given == "none":
        _say("CODEMODE_WORKER=none: building without a worker, no cell can run")
        return
    if not _can_confine():
        where = f"{platform.system()} {platform.machine()}"
        _say(f"no worker on {where}: it needs Linux on x86-64 or aarch64; no cell can run")
        return
    source = Path(given) if given else _build_worker()
    WORKER.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, WORKER)
    WORKER.chmod(0o755)


def _can_confine() -> bool:
    return sys.platform == "linux" and platform.machine().lower() in CONFINABLE


def _build_worker() -> Path:
    # With `--target`, the flags reach the worker but not the build scripts and macros on the way.
    command = ["cargo", "build", "--release", "--package", "codemode-worker"]
    command += ["--bin", "codemode-worker", "--target", _host_triple()]
    command += ["--locked", "--message-format", "json-render-diagnostics"]
    _say("Running `{}`".format(" ".join(command)))
    built = subprocess.run(
        command, cwd=ROOT, env=_worker_environment(), stdout=subprocess.PIPE, text=True, check=False
    )
    if built.returncode != 0:
        raise SystemExit(f"cargo could not build codemode-worker (exit {built.returncode})")
    for line in built.stdout.splitlines():
        message = json.loads(line)
        if message.get("executable") and message["target"]["name"] == "codemode-worker":
            return Path(message["executable"])
    raise SystemExit("cargo has built codemode-worker but does not say where")


def _worker_environment() -> dict[str, str]:
    environment = dict(os.environ)
    # Cargo reads the first of these that is set.
    for name, separator in (("CARGO_ENCODED_RUSTFLAGS", "\x1f"), ("RUSTFLAGS", " ")):
        if environment.get(name) or name == "RUSTFLAGS":
            flags = [environment[name]] if environment.get(name) else []
            environment[name] = separator.join([*flags, *WORKER_FLAGS])
            break
    return environment


def _host_triple() -> str:
    version = subprocess.run(["rustc", "-vV"], stdout=subprocess.PIPE, text=True, check=True).stdout
    for line in version.splitlines():
        if line.startswith("host: "):
            return line.removeprefix("host: ")
    raise SystemExit("rustc does not say which platform it builds for")


def _restore_workspace(archive: Path) -> None:
    """Puts the workspace manifest back: maturin leaves only what the module depends on in it."""
    manifest = (ROOT / "Cargo.toml").read_bytes()
    with tarfile.open(archive, "r:gz") as source:
        members = [(m, source.extractfile(m)) for m in source.getmembers()]
        contents = [(m, file.read() if file else b"") for m, file in members]
    # No time of writing in the header, so that equal sources are equal archives.
    with (
        gzip.GzipFile(archive, "wb", mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as target,
    ):
        for member, content in contents:
            is_manifest = member.name.split("/")[1:] == ["Cargo.toml"]
            data = manifest if is_manifest else content
            member.size = len(data)
            target.addfile(member, io.BytesIO(data))


def _need_cargo() -> None:
    if shutil.which("cargo") is None or shutil.which("rustc") is None:
        raise SystemExit(
            "codemode is built from Rust sources, and cargo or rustc is not on PATH. Install Rust "
            "1.88 or newer (https://rustup.rs), or install a codemode wheel."
        )
    # Found above; otherwise maturin would download one.
    os.environ["MATURIN_NO_INSTALL_RUST"] = "1"


def _say(text: str) -> None:
    print(text, flush=True)
