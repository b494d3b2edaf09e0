"""The last look at what a provider is sent (srf.6)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from .surface import EXEC, WAIT

# The property by which the two controls are told from other tools of the same name.
_MARKS = {EXEC: "code", WAIT: "runId"}
_GEMINI_LISTS = ("functionDeclarations", "function_declarations")


class PayloadRefused(RuntimeError):
    """The payload would show the model something else than the code mode surface."""


def guard_payload(payload: Mapping[str, Any], approved: Iterable[str]) -> dict[str, Any]:
    """Drops tools that are not approved, then checks what is left.

    Takes requests in the form of OpenAI (Chat Completions and Responses), Anthropic (Messages)
    and Gemini (with `tools` at the top or under `config`).

    Args:
        payload: The final request body; it is not changed.
        approved: Names that the model may see: exec, wait and the direct tools.

    Returns:
        A copy of the request with approved tools only.

    Raises:
        PayloadRefused: There is not exactly one exec and one wait, a name is there twice, or
            another tool is forced. Lists what was found.
    """
    names = frozenset(approved)
    out = dict(payload)
    found: list[tuple[str, Any]] = []
    for key in ("tools", "functions"):
        if isinstance(out.get(key), (list, tuple)):
            out[key] = _filter(out[key], names, found)
    if isinstance(out.get("config"), Mapping) and isinstance(
        out["config"].get("tools"), (list, tuple)
    ):
        out["config"] = dict(out["config"])
        out["config"]["tools"] = _filter(out["config"]["tools"], names, found)
    _verify(found)
    forced = _forced(out)
    if forced is not None and forced not in names:
        raise PayloadRefused(f"the request forces the tool {forced!r}, which is hidden")
    return out


def _filter(
    tools: Iterable[Any], approved: frozenset[str], found: list[tuple[str, Any]]
) -> list[Any]:
    kept: list[Any] = []
    for tool in tools:
        if not isinstance(tool, Mapping):
            continue
        lists = [key for key in _GEMINI_LISTS if isinstance(tool.get(key), (list, tuple))]
        if lists:
            # Beside declarations, Gemini puts tools of its own (search, code execution).
            declarations = {key: _filter(tool[key], approved, found) for key in lists}
            if any(declarations.values()):
                kept.append(declarations)
            continue
        inner = tool["function"] if isinstance(tool.get("function"), Mapping) else tool
        name = inner.get("name")
        if isinstance(name, str) and name in approved:
            found.append((name, inner))
            kept.append(tool)
    return kept


def _verify(found: list[tuple[str, Any]]) -> None:
    counts = Counter(name for name, _ in found)
    wrong = [f"{name} {counts[name]} times" for name in (EXEC, WAIT) if counts[name] != 1]
    wrong += [f"{n} {k} times" for n, k in counts.items() if k > 1 and n not in (EXEC, WAIT)]
    wrong += [
        f"{name} that is not code mode's own"
        for name, tool in found
        if name in _MARKS and _MARKS[name] not in _properties(tool)
    ]
    if wrong:
        listed = ", ".join(name for name, _ in found) or "no tools"
        raise PayloadRefused(
            f"the request is not the code mode surface: {'; '.join(wrong)}. Found: {listed}"
        )


def _properties(tool: Mapping[str, Any]) -> Mapping[str, Any]:
    for key in ("parameters", "input_schema", "parametersJsonSchema", "parameters_json_schema"):
        schema = tool.get(key)
        if isinstance(schema, Mapping) and isinstance(schema.get("properties"), Mapping):
            properties: Mapping[str, Any] = schema["properties"]
            return properties
    return {}


def _forced(payload: Mapping[str, Any]) -> str | None:
    """The tool that the model is made to call, if the request names one."""
    for key in ("tool_choice", "function_call"):
        choice = payload.get(key)
        if isinstance(choice, Mapping):
            inner = choice.get("function")
            name = inner.get("name") if isinstance(inner, Mapping) else choice.get("name")
            if isinstance(name, str):
                return name
    return None
