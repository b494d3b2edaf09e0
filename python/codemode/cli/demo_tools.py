"""Sample tools of the demonstration: a small shipping company."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

from codemode import Tool, tool


@dataclass
class Shipment:
    """One shipment."""

    id: str
    port: str
    tons: float
    paid: bool
    customer: str


@dataclass
class Customer:
    """One customer."""

    id: str
    name: str
    country: str


_PORTS = ("Rotterdam", "Valencia", "Gdansk")


@tool
async def list_shipments(port: str) -> list[Shipment]:
    """Lists the shipments that lie in a port.

    Args:
        port: Name of the port.
    """
    await asyncio.sleep(0.04)
    start = 10 * (_PORTS.index(port) if port in _PORTS else 7)
    return [
        Shipment(
            id=f"S{start + n}",
            port=port,
            tons=4.5 * (n + 1),
            paid=n % 3 == 0,
            customer=f"C{(start + n) % 4}",
        )
        for n in range(6)
    ]


@tool
async def get_customer(id: str) -> Customer:  # noqa: A002 - the name that a model expects
    """Reads one customer.

    Args:
        id: Id of the customer.
    """
    await asyncio.sleep(0.02)
    names = ("Aurora Foods", "Baltic Timber", "Cobalt Labs", "Delta Grain")
    countries = ("NL", "PL", "ES", "FR")
    number = int(id[1:])
    return Customer(id=id, name=names[number], country=countries[number])


@tool
async def run_credit_check(customers: list[str]) -> dict[str, str]:
    """Asks an agency for credit grades. Slow: takes some seconds.

    Args:
        customers: Ids of customers.
    """
    await asyncio.sleep(1.6)
    return {customer: "ABCD"[int(customer[1:])] for customer in customers}


async def _answer(arguments: dict[str, Any], _context: Any) -> dict[str, Any]:
    return {"ok": True, "received": arguments}


def _filler(area: str, verb: str) -> Tool:
    return Tool(
        name=f"{area}_{verb}",
        description=f"{verb.capitalize()} one record of {area}.",
        parameters={
            "type": "object",
            "properties": {"id": {"type": "string"}, "note": {"type": "string"}},
            "required": ["id"],
        },
        execute=_answer,
        owner=area,
    )


def demo_tools() -> list[Tool]:
    """Three tools that the program uses and some dozens that it has to pass over."""
    areas = ("calendar", "contracts", "customs", "email", "fleet", "invoices", "warehouse")
    verbs = ("create", "read", "update", "delete", "archive")
    fillers = [_filler(area, verb) for area in areas for verb in verbs]
    return [list_shipments, get_customer, run_credit_check, *fillers]
