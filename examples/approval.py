"""A person approves what a program does: reads run freely, refunds are asked for one by one.

The program waits for the person like for any slow tool: if that takes longer than the deadline
the model gets `waiting` and goes on with `wait`.

    python -m examples.approval
"""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from examples.scripted import ScriptedModel

from codemode import CallEvent, CodeMode, Hooks, NeedsApproval, tool
from codemode.agent import Agent

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

ORDERS = {"A1": 30.0, "A2": 900.0, "A3": 12.5}
REFUNDED: list[str] = []


@tool
async def list_orders() -> list[dict[str, Any]]:
    """Lists the orders with their totals."""
    return [{"id": key, "total": total} for key, total in ORDERS.items()]


@tool
async def refund(order_id: str) -> str:
    """Refunds an order.

    Args:
        order_id: Id of the order.
    """
    REFUNDED.append(order_id)
    return f"refunded {order_id}"


class AskAPerson(Hooks):
    """Asks before every refund; everything else runs."""

    def __init__(self, ask: Callable[[str], Awaitable[bool]]) -> None:
        """Puts its questions to `ask`."""
        self._ask = ask

    def before_tool_call(self, event: CallEvent) -> Any:
        """Refunds need approval."""
        if event.name == "refund":
            order = event.input["order_id"]
            return NeedsApproval(f"Refund {order} ({ORDERS.get(order)} EUR)?")
        return None

    async def approve(self, event: CallEvent, prompt: str) -> bool:  # noqa: ARG002
        """Asks; the cell is parked meanwhile if it takes long."""
        return await self._ask(prompt)


async def on_the_terminal(prompt: str) -> bool:
    """A question on the terminal, in a thread, so that the loop goes on."""
    answer = await asyncio.to_thread(input, f"{prompt} [y/N] ")
    return answer.strip().lower() == "y"


PROGRAM = """
const results = [];
for (const order of await tools.list_orders({})) {
  try { results.push(await tools.refund({ order_id: order.id })); }
  catch (error) { results.push(error.message); }
}
return results;
"""


def wait_or_report(seen: Any) -> Any:
    """Waits for a program that is not done, else tells its value."""
    last = json.loads(seen.results[-1])
    return {"wait": last["runId"]} if last["status"] == "waiting" else "\n".join(last["value"])


async def main(ask: Callable[[str], Awaitable[bool]] = on_the_terminal) -> str:
    """One conversation."""
    model = ScriptedModel({"exec": PROGRAM}, *[wait_or_report] * 20)
    async with CodeMode({"enabled": True, "timeoutMs": 2_000}) as cm:
        await cm.ready()
        async with Agent(cm, model, tools=[list_orders, refund], hooks=AskAPerson(ask)) as agent:
            return (await agent.ask("Refund all orders.")).text


if __name__ == "__main__":
    print(asyncio.run(main()))  # noqa: T201
