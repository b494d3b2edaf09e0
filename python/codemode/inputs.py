"""What the model sends to exec and wait, checked (exe.1, wai.1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .records import record

if TYPE_CHECKING:
    from .config import CodeModeConfig
    from .models import Limit

MAX_SOURCE_BYTES = 256 << 10

_LANGUAGES = {"javascript": False, "js": False, "typescript": True, "ts": True}
_FIELDS = ("code", "command", "language", "restartSafe")


class BadInput(Exception):
    """An input that is refused; the text tells the model what to send instead."""

    def __init__(self, message: str, limit: Limit | None = None) -> None:
        """See the class."""
        super().__init__(message)
        self.limit = limit


@record(frozen=True, slots=True, kw_only=True)
class ExecInput:
    """A checked input of exec.

    Attributes:
        code: What to run, never blank.
        typescript: The model asked for TypeScript.
        restart_safe: exe.15.
        warnings: What was odd but harmless.
    """

    code: str
    typescript: bool
    restart_safe: bool
    warnings: tuple[str, ...]


def read_exec(value: Any, config: CodeModeConfig) -> ExecInput:
    """Checks an input of exec.

    Raises:
        BadInput: The model has to send something else.
    """
    if not isinstance(value, Mapping):
        raise BadInput('exec takes an object: {"code": "return 1 + 1"}.')
    odd = ", ".join(str(key)[:40] for key in value if key not in _FIELDS)
    texts: list[str] = []
    for name in ("code", "command"):
        given = value.get(name)
        if given is None:
            continue
        if not isinstance(given, str):
            raise BadInput(f"{name} must be a string with a program.")
        if given.strip():
            texts.append(given)
    if not texts:
        instead = f" exec has no field {odd}." if odd else ""
        raise BadInput(
            f'code is missing: send {{"code": "return 1 + 1"}} with a program in it.{instead}'
        )
    if len(set(texts)) > 1:
        raise BadInput("code and command differ; send only code.")
    code = _well_formed(texts[0])
    size = len(code.encode())
    if size > MAX_SOURCE_BYTES:
        raise BadInput(
            f"The program is {size} bytes long; the limit is {MAX_SOURCE_BYTES}. "
            "Let tools bring the data instead of writing it into the program.",
            limit="source",
        )
    restart_safe = value.get("restartSafe")
    if restart_safe is not None and not isinstance(restart_safe, bool):
        raise BadInput("restartSafe must be true or false.")
    return ExecInput(
        code=code,
        typescript=_is_typescript(value.get("language"), config),
        restart_safe=bool(restart_safe),
        warnings=(f"exec has no field {odd}; ignored.",) if odd else (),
    )


def _is_typescript(language: Any, config: CodeModeConfig) -> bool:
    allowed = config.languages
    if language is None:
        # JavaScript is the default even where only TypeScript is allowed: every program is both.
        return "javascript" not in allowed
    key = language.strip().lower() if isinstance(language, str) else None
    typescript = _LANGUAGES.get(key) if key is not None else None
    if typescript is None:
        raise BadInput(f"language must be {' or '.join(allowed)}.")
    if ("typescript" if typescript else "javascript") not in allowed:
        raise BadInput(f"This run only takes {' and '.join(allowed)}; write the program in that.")
    return typescript


def read_wait(value: Any) -> str:
    """Checks an input of wait and gives the runId.

    Raises:
        BadInput: The model has to send something else.
    """
    run_id = value.get("runId") if isinstance(value, Mapping) else None
    if not isinstance(run_id, str) or not run_id.strip():
        raise BadInput('wait takes {"runId": "..."} with the runId of a waiting result.')
    return run_id.strip()


def _well_formed(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
