"""`skills.list()` and `skills.read(name)`: instructions that a guest reads when it needs them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from ..tools import Tool
from .namespaces import Bind, Namespace

if TYPE_CHECKING:
    from collections.abc import Sequence

OWNER = "skills"
_MOST_BYTES = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Skill:
    """One skill: what it is for, and its text."""

    name: str
    description: str
    content: str


class SkillSource(Protocol):
    """Where skills come from."""

    def skills(self) -> Sequence[Skill]:
        """All skills of this moment."""
        ...


class DirectorySkills:
    """Skills of a directory: `<name>/SKILL.md`, with `name:` and `description:` at its head."""

    def __init__(self, path: str | Path) -> None:
        """Reads the directory each time it is asked."""
        self._path = Path(path)

    def skills(self) -> list[Skill]:
        """By name; files over 1 MiB are left out."""
        files = (f for f in self._path.glob("*/SKILL.md") if f.stat().st_size <= _MOST_BYTES)
        return sorted((_read(file) for file in files), key=lambda skill: skill.name)


def skill_tools(source: SkillSource) -> list[Tool]:
    """The two tools below the namespace. Both only read, and may be called again.

    Args:
        source: Where the skills come from. Names are looked up in it and never made into paths.
    """

    async def list_skills(_given: Any, _ctx: Any) -> Any:
        return [{"name": s.name, "description": s.description} for s in source.skills()]

    async def read_skill(given: Any, _ctx: Any) -> str:
        skills = source.skills()
        found = [skill.content for skill in skills if skill.name == given["name"]]
        if not found:
            names = ", ".join(skill.name for skill in skills) or "none"
            raise LookupError(f"there is no skill {str(given['name'])[:80]!r}; skills: {names}")
        return found[0]

    name = {
        "type": "object",
        "properties": {"name": {"type": "string"}},
        "required": ["name"],
        "additionalProperties": False,
    }
    return [
        Tool(
            name="list_skills",
            description="Lists the skills: instructions for kinds of work.",
            execute=list_skills,
            owner=OWNER,
            replay_safe=True,
        ),
        Tool(
            name="read_skill",
            description="Gives the text of a skill.",
            parameters=name,
            execute=read_skill,
            owner=OWNER,
            replay_safe=True,
        ),
    ]


def skill_namespace() -> Namespace:
    """`skills`, for `Namespaces`; the run needs the tools of `skill_tools` too."""
    scope = {"list": Bind("list_skills"), "read": Bind("read_skill", ("name",))}
    return Namespace(name="skills", owner=OWNER, scope=scope)


def _read(file: Path) -> Skill:
    text = file.read_text("utf-8", errors="replace")
    head: dict[str, str] = {}
    if text.startswith("---\n"):
        front, mark, _ = text[4:].partition("\n---")
        for line in front.splitlines() if mark else ():
            key, _, value = line.partition(":")
            head[key.strip()] = value.strip().strip("\"'")
    return Skill(
        name=head.get("name") or file.parent.name,
        description=head.get("description", ""),
        content=text,
    )
