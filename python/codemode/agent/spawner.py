"""Children of a swarm as agents of this loop."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from ..extensions.swarm import ChildFailed, ChildRequest, ChildResult

if TYPE_CHECKING:
    from collections.abc import Callable

    from .loop import Agent


class LoopSpawner:
    """Runs each child as an `Agent` of its own, in this process."""

    def __init__(self, make: Callable[[ChildRequest], Agent]) -> None:
        """Children are made by `make`.

        Args:
            make: Gives a new agent for a request; decides about model, tools and system prompt.
        """
        self._make = make

    async def spawn(self, request: ChildRequest) -> ChildResult:
        """Asks the child; with a schema, for JSON only.

        Raises:
            ChildFailed: The agent raised; the text is that of the exception.
        """
        run_id = f"child_{os.urandom(8).hex()}"
        prompt = request.prompt
        if request.schema is not None:
            schema = json.dumps(request.schema, ensure_ascii=False)
            prompt += f"\n\nAnswer with one JSON value of this schema and nothing else:\n{schema}"
        try:
            async with self._make(request) as agent:
                answer = await agent.ask(prompt)
        except Exception as error:
            raise ChildFailed(str(error), run_id=run_id, status="failed") from error
        return ChildResult(run_id=run_id, text=answer.text)
