"""Further guest globals: `nodes`, plugin namespaces, `skills`, and the swarm's `agents`.

run = cm.run(tools, extensions=[Nodes(), Namespaces([...]), Swarm(spawner)])
"""

from __future__ import annotations

from .namespaces import Bind, Namespace, Namespaces
from .nodes import Nodes
from .skills import DirectorySkills, Skill, SkillSource, skill_namespace, skill_tools
from .swarm import ChildFailed, ChildRequest, ChildResult, Journal, Limits, Spawner, Swarm

__all__ = [
    "Bind",
    "ChildFailed",
    "ChildRequest",
    "ChildResult",
    "DirectorySkills",
    "Journal",
    "Limits",
    "Namespace",
    "Namespaces",
    "Nodes",
    "Skill",
    "SkillSource",
    "Spawner",
    "Swarm",
    "skill_namespace",
    "skill_tools",
]
