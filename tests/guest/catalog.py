"""The sample catalog of the cells: small, deterministic tools."""

from __future__ import annotations

import asyncio
from typing import Any

from codemode import Tool, ToolResult, tool

SHIPMENTS = [
    {"id": "S1", "port": "Rotterdam", "status": "arrived", "weight_kg": 120},
    {"id": "S2", "port": "Rotterdam", "status": "delayed", "weight_kg": 80.5},
    {"id": "S3", "port": "Hamburg", "status": "arrived", "weight_kg": 300},
    {"id": "S4", "port": "Hamburg", "status": "customs", "weight_kg": 42},
    {"id": "S5", "port": "Antwerp", "status": "delayed", "weight_kg": 510},
    {"id": "S6", "port": "Rotterdam", "status": "arrived", "weight_kg": 75},
]
ORDERS: dict[str, dict[str, Any]] = {
    "A-1": {"customer": "Ada", "items": [{"sku": "bolt", "qty": 10, "price": 0.25}]},
    "A-2": {
        "customer": "Grace",
        "items": [
            {"sku": "nut", "qty": 4, "price": 0.5},
            {"sku": "gear", "qty": 1, "price": 19.99},
        ],
    },
    "A-3": {"customer": "Ada", "items": []},
}


@tool
async def list_shipments(port: str, limit: int = 10) -> list[dict[str, Any]]:
    """Lists shipments at a port.

    Args:
        port: Name of the port.
        limit: At most this many.
    """
    return [s for s in SHIPMENTS if s["port"] == port][:limit]


@tool
async def get_order(id: str) -> dict[str, Any]:  # noqa: A002 -- the guest's field name
    """Reads one order with its items.

    Args:
        id: Order number, such as A-1.
    """
    if id not in ORDERS:
        raise LookupError(f"order not found: {id}")
    return {"id": id, **ORDERS[id]}


@tool
async def slow_echo(ms: int, value: Any = None) -> Any:
    """Gives the value back after a while.

    Args:
        ms: How long, in milliseconds.
        value: Anything.
    """
    await asyncio.sleep(ms / 1000)
    return value


@tool
async def raises(message: str) -> None:
    """Fails with the message."""
    raise RuntimeError(message)


@tool
async def add(a: float, b: float) -> float:
    """Adds two numbers."""
    return a + b


@tool
async def large(n: int) -> str:
    """Gives a text of n characters."""
    return "x" * n


@tool
async def rows(n: int) -> list[dict[str, Any]]:
    """Gives n rows with id and name."""
    return [{"id": i, "name": f"row {i}"} for i in range(n)]


async def _same(value: Any, _: Any) -> Any:
    return value


def demo_tools() -> list[Tool]:
    """All of them, with state of their own."""
    notes: list[dict[str, Any]] = []

    @tool
    async def create_note(title: str, body: str = "") -> dict[str, Any]:
        """Stores a note and says how many there are.

        Args:
            title: Its title.
            body: Its text.
        """
        notes.append({"id": len(notes) + 1, "title": title, "body": body})
        return {"id": len(notes), "count": len(notes)}

    @tool
    async def list_notes() -> list[dict[str, Any]]:
        """Lists the notes stored so far."""
        return notes

    anything = {"type": "object", "additionalProperties": True}

    def fixed(name: str, value: Any, **more: Any) -> Tool:
        async def execute(_: Any, __: Any) -> Any:
            return value

        return Tool(
            name=name,
            description=f"Gives a fixed value ({name}).",
            parameters={"type": "object", "properties": {}},
            execute=execute,
            **more,
        )

    return [
        list_shipments,
        get_order,
        slow_echo,
        raises,
        add,
        large,
        rows,
        create_note,
        list_notes,
        Tool(name="id", description="Gives its input.", parameters=anything, execute=_same),
        fixed("big_number", 2**70),
        fixed("nothing", None),
        fixed("odd_keys", {"__proto__": 1, "toJSON": "v", "a-b": 2, "constructor": 3}),
        fixed("content_only", ToolResult(content=[{"type": "text", "text": "hello"}])),
        fixed("both", ToolResult(content=[{"type": "text", "text": "t"}], details={"n": 1})),
        fixed("find", "from crm", owner="crm"),
        fixed("find", "from wiki", owner="wiki"),
        fixed("get-user", {"name": "Ada"}),
    ]
