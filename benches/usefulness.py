"""What code mode saves a model: prompt bytes and turns for the same tasks, without a model.

    python -m benches.usefulness

Sixty tools. Each task has a program (what a model writes with code mode) and its right answer.
Direct tools: the prompt carries every schema, and calls that need an earlier result take a turn
of their own; what all tool results weigh goes back into the prompt. Code mode: exec and wait, one
turn per exec or wait, and only the final result goes back. Turns of direct tools are counted from
the program's own calls: calls made at the same time share a turn.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

from benches.ours import dump
from codemode import CodeMode, CodeModeConfig, Completed, Tool, ToolContext, Waiting

PORTS = ("rotterdam", "hamburg", "busan", "santos", "oakland", "mumbai")
ORDERS = [
    {
        "id": f"o{i}",
        "customer": f"c{i % 12}",
        "port": PORTS[i % 6],
        "total": (i * 37) % 900 + 50,
        "status": ("open", "paid", "late")[i % 3],
        "notes": f"Order number {i}, entered by hand, to be checked by the desk at {PORTS[i % 6]}.",
    }
    for i in range(120)
]
CUSTOMERS = {
    f"c{i}": {
        "id": f"c{i}",
        "name": f"Customer {i}",
        "country": ("NL", "DE", "KR")[i % 3],
        "credit": i * 1000,
        "contact": {"email": f"c{i}@example.com", "phone": f"+31 {i}"},
    }
    for i in range(12)
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One task.

    Attributes:
        name: What the user wants.
        code: The program that does it.
        answer: Its right value.
    """

    name: str
    code: str
    answer: Any


TASKS = (
    Task(
        name="one look-up",
        code="return (await tools.get_customer({id: 'c3'})).name",
        answer="Customer 3",
    ),
    Task(
        name="count open orders",
        code="return (await tools.list_orders({})).filter(o => o.status === 'open').length",
        answer=40,
    ),
    Task(
        name="sum by port",
        code=(
            "const t = {}; for (const o of await tools.list_orders({})) t[o.port] = (t[o.port] ?? 0) + o.total;"
            "return Object.entries(t).sort((a, b) => b[1] - a[1])[0][0]"
        ),
        answer=max(PORTS, key=lambda p: sum(o["total"] for o in ORDERS if o["port"] == p)),
    ),
    Task(
        name="customers of late orders",
        code=(
            "const late = (await tools.list_orders({status: 'late'})).map(o => o.customer);"
            "const who = await Promise.all([...new Set(late)].map(id => tools.get_customer({id})));"
            "return who.map(c => c.name).sort()"
        ),
        answer=["Customer 11", "Customer 2", "Customer 5", "Customer 8"],
    ),
    Task(
        name="follow a chain",
        code=(
            "let id = 'o0'; const seen = []; while (id) { const [o, next] = await Promise.all("
            "[tools.get_order({id}), tools.next_order({id})]); seen.push(o.id); id = next.id; } return seen.length"
        ),
        answer=6,
    ),
    Task(
        name="twenty at once",
        code=(
            "const all = await Promise.all(Array.from({length: 20}, (_, i) => tools.get_order({id: 'o' + i})));"
            "return all.reduce((s, o) => s + o.total, 0)"
        ),
        answer=sum(o["total"] for o in ORDERS[:20]),
    ),
    Task(
        name="weather at six ports",
        code=(
            f"const ports = {dump(PORTS)};"
            "const w = await Promise.all(ports.map(port => tools.get_weather({port})));"
            "return ports.filter((p, i) => w[i].wind > 8)"
        ),
        answer=[p for p in PORTS if len(p) > 8],
    ),
    Task(
        name="filter a long report",
        code=(
            "const r = await tools.read_report({name: 'daily'});"
            "return r.lines.filter(l => l.includes('ERROR')).length"
        ),
        answer=20,
    ),
    Task(
        name="update if needed",
        code=(
            "const o = await tools.get_order({id: 'o2'});"
            "if (o.status === 'late') return (await tools.update_order({id: o.id, status: 'chased'})).status;"
            "return 'unchanged'"
        ),
        answer="chased",
    ),
    Task(
        name="retry a flaky tool",
        code=(
            "for (let i = 0; i < 5; i++) { try { return await tools.flaky({}); } catch {} } return 'gave up'"
        ),
        answer="third time",
    ),
    Task(
        name="join three sources",
        code=(
            "const [orders, rates] = await Promise.all([tools.list_orders({status: 'paid'}), tools.get_rates({})]);"
            "const cs = Object.fromEntries(await Promise.all([...new Set(orders.map(o => o.customer))]"
            ".map(async id => [id, await tools.get_customer({id})])));"
            "return Math.round(orders.reduce((s, o) => s + o.total * rates[cs[o.customer].country], 0))"
        ),
        answer=round(
            sum(
                o["total"] * {"NL": 1, "DE": 1, "KR": 2}[CUSTOMERS[o["customer"]]["country"]]
                for o in ORDERS
                if o["status"] == "paid"
            )
        ),
    ),
    Task(
        name="find a tool by search",
        code=(
            "const [hit] = await tools.search('exchange rates'); return (await tools.callValue(hit.id, {})).KR"
        ),
        answer=2,
    ),
    Task(
        name="write a summary per customer",
        code=(
            "const orders = await tools.list_orders({}); const by = {};"
            "for (const o of orders) (by[o.customer] ??= []).push(o.total);"
            "await Promise.all(Object.entries(by).map(([id, t]) => tools.write_note({id, text: `${t.length} orders`})));"
            "return Object.keys(by).length"
        ),
        answer=12,
    ),
    Task(name="wait for a slow job", code="return (await tools.slow_job({})).state", answer="done"),
)


class Waves:
    """Counts calls, what they weigh, and how many rounds of calls there were."""

    def __init__(self) -> None:
        self.calls = self.bytes = self.rounds = self.running = 0

    def tool(self, name: str, description: str, parameters: dict[str, str], give: Any) -> Tool:
        async def execute(given: Any, _: ToolContext) -> Any:
            if self.running == 0:
                self.rounds += 1
            self.running += 1
            self.calls += 1
            try:
                # So that calls made together are seen together.
                await asyncio.sleep(0.01)
                value = give(given)
                if asyncio.iscoroutine(value):
                    value = await value
            finally:
                self.running -= 1
            self.bytes += len(dump(given)) + len(dump(value))
            return value

        return Tool(
            name=name,
            description=description,
            execute=execute,
            parameters={
                "type": "object",
                "properties": {
                    key: {"type": "string", "description": text} for key, text in parameters.items()
                },
            },
        )


def _orders(given: Any) -> Any:
    return [o for o in ORDERS if given.get("status") in (None, o["status"])]


def _flaky(count: list[int]) -> Any:
    def give(_: Any) -> str:
        count.append(1)
        if len(count) < 3:
            raise RuntimeError("try again")
        return "third time"

    return give


async def _slow(_: Any) -> Any:
    await asyncio.sleep(1.2)
    return {"state": "done"}


def sixty(waves: Waves) -> list[Tool]:
    """The tools of the tasks, and others that are there as well."""
    order = {o["id"]: o for o in ORDERS}
    used = [
        waves.tool(
            "list_orders",
            "Lists orders, newest first.",
            {"status": "Only with this status."},
            _orders,
        ),
        waves.tool(
            "get_order", "Gives one order.", {"id": "Id of the order."}, lambda g: order[g["id"]]
        ),
        waves.tool(
            "next_order",
            "Gives the order that follows another one.",
            {"id": "Id of the order."},
            lambda g: {"id": f"o{int(g['id'][1:]) + 1}" if int(g["id"][1:]) < 5 else None},
        ),
        waves.tool(
            "update_order", "Changes an order.", {"id": "Id.", "status": "New status."}, lambda g: g
        ),
        waves.tool(
            "get_customer",
            "Gives one customer.",
            {"id": "Id of the customer."},
            lambda g: CUSTOMERS[g["id"]],
        ),
        waves.tool(
            "get_weather",
            "Gives the weather at a port.",
            {"port": "Name of the port."},
            lambda g: {"port": g["port"], "wind": len(g["port"]), "text": "cloudy with rain later"},
        ),
        waves.tool(
            "read_report",
            "Reads a report.",
            {"name": "Name of the report."},
            lambda _: {
                "lines": [
                    f"{i:04} {'ERROR' if i % 20 == 0 else 'ok'} line of the report"
                    for i in range(400)
                ]
            },
        ),
        waves.tool(
            "get_rates",
            "Gives the exchange rates of today.",
            {},
            lambda _: {"NL": 1, "DE": 1, "KR": 2},
        ),
        waves.tool("flaky", "Sometimes fails.", {}, _flaky([])),
        waves.tool(
            "write_note",
            "Writes a note about a customer.",
            {"id": "Id.", "text": "Text."},
            lambda _: {"ok": True},
        ),
        waves.tool("slow_job", "Runs the nightly job and waits for it.", {}, _slow),
    ]
    more = [
        waves.tool(
            f"{verb}_{noun}",
            f"{verb.title()}s {noun} records in the back office system.",
            {"id": f"Id of the {noun}.", "filter": "What to look for.", "format": "json or text."},
            lambda _: None,
        )
        for verb in ("list", "read", "create", "archive", "export", "audit", "tag")
        for noun in ("invoice", "ticket", "vessel", "container", "contract", "permit", "claim")
    ]
    return [*used, *more]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One task, both ways. Bytes are what all requests of the task carry."""

    task: str
    direct_turns: int
    direct_bytes: int
    code_turns: int
    code_bytes: int


def _sent(surface: int, turns: int, grown: int) -> int:
    """Bytes of all requests: the tools every time, and a history that grows evenly."""
    return surface * turns + grown * (turns - 1) // 2 + grown


async def measure(task: Task) -> Outcome:
    """Runs a task in code mode and counts for both ways.

    Raises:
        AssertionError: The answer is wrong.
    """
    waves = Waves()
    tools = sixty(waves)
    assert len(tools) == 60
    async with CodeMode(CodeModeConfig(enabled=True, timeout_ms=1_000)) as cm:
        await cm.ready()
        run = cm.run(tools)
        surface = sum(
            len(dump({"name": t.name, "description": t.description, "parameters": t.parameters}))
            for t in run.model_tools
        )
        turns, back = 1, len(task.code)
        result = await run.exec({"code": task.code})
        while isinstance(result, Waiting):
            turns += 1
            back += len(dump({"status": "waiting", "runId": result.run_id}))
            result = await run.wait({"runId": result.run_id})
        assert isinstance(result, Completed), (task.name, result)
        assert result.value == task.answer, (task.name, result.value)
        back += len(dump(result.value))
    plain = sum(
        len(dump({"name": t.name, "description": t.description, "parameters": t.parameters}))
        for t in tools
    )
    # The last turn of both is the answer in words.
    return Outcome(
        task=task.name,
        direct_turns=waves.rounds + 1,
        direct_bytes=_sent(plain, waves.rounds + 1, waves.bytes),
        code_turns=turns + 1,
        code_bytes=_sent(surface, turns + 1, back),
    )


async def outcomes() -> list[Outcome]:
    """All tasks."""
    return [await measure(task) for task in TASKS]


def main() -> None:
    """Prints the table."""
    seen = asyncio.run(outcomes())
    print("| task | turns direct | turns code mode | kB direct | kB code mode | ratio |")
    print("|---|---|---|---|---|---|")
    for one in seen:
        print(
            f"| {one.task} | {one.direct_turns} | {one.code_turns} | {one.direct_bytes / 1e3:.1f} "
            f"| {one.code_bytes / 1e3:.1f} | {one.direct_bytes / one.code_bytes:.1f} |"
        )
    direct, code = sum(o.direct_bytes for o in seen), sum(o.code_bytes for o in seen)
    print(
        f"| all | {sum(o.direct_turns for o in seen)} | {sum(o.code_turns for o in seen)} "
        f"| {direct / 1e3:.1f} | {code / 1e3:.1f} | {direct / code:.1f} |"
    )


if __name__ == "__main__":
    main()
