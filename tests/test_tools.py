from __future__ import annotations

import asyncio
import dataclasses
import datetime
import enum
import inspect
from typing import Annotated, Any, Literal, TypedDict

import pydantic
import pytest

from codemode import Scope, Tool, ToolContext, ToolResult, tool


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclasses.dataclass
class Shipment:
    id: str
    tons: float
    paid: bool = False


class Stop(TypedDict):
    port: str
    days: int


class Crate(pydantic.BaseModel):
    n: int
    tags: list[str] = []


@dataclasses.dataclass
class Tree:
    name: str
    children: list[Tree] = dataclasses.field(default_factory=list)


def context() -> ToolContext:
    return ToolContext(call_id="c", scope=Scope())


def property_of(annotation: Any, default: Any = inspect.Parameter.empty) -> Any:
    def f(x):  # type: ignore[no-untyped-def]
        return x

    f.__annotations__ = {"x": annotation}
    if default is not inspect.Parameter.empty:
        f.__defaults__ = (default,)
    return tool(f).parameters["properties"]["x"]


@pytest.mark.parametrize(
    ("annotation", "schema"),
    [
        (str, {"type": "string"}),
        (int, {"type": "integer"}),
        (float, {"type": "number"}),
        (bool, {"type": "boolean"}),
        (None, {"type": "null"}),
        (Any, {}),
        (list[int], {"type": "array", "items": {"type": "integer"}}),
        (list, {"type": "array", "items": {}}),
        (set[str], {"type": "array", "items": {"type": "string"}}),
        (dict[str, int], {"type": "object", "additionalProperties": {"type": "integer"}}),
        (dict, {"type": "object", "additionalProperties": True}),
        (int | None, {"type": ["integer", "null"]}),
        (
            list[int] | None,
            {"anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "null"}]},
        ),
        (Literal["a", 1, None], {"enum": ["a", 1, None]}),
        (Color, {"enum": ["red", "blue"]}),
        (Annotated[str, "a port"], {"type": "string", "description": "a port"}),
        (tuple[int, ...], {"type": "array", "items": {"type": "integer"}}),
        (
            tuple[int, str],
            {
                "type": "array",
                "prefixItems": [{"type": "integer"}, {"type": "string"}],
                "items": False,
                "minItems": 2,
                "maxItems": 2,
            },
        ),
        (datetime.date, {"type": "string", "format": "date"}),
        (
            Shipment,
            {
                "type": "object",
                "properties": {
                    "id": {"type": "string"},
                    "tons": {"type": "number"},
                    "paid": {"type": "boolean"},
                },
                "required": ["id", "tons"],
                "additionalProperties": False,
            },
        ),
        (
            Stop,
            {
                "type": "object",
                "properties": {"port": {"type": "string"}, "days": {"type": "integer"}},
                "required": ["port", "days"],
                "additionalProperties": False,
            },
        ),
    ],
)
def test_an_annotation_becomes_the_schema_that_says_the_same(annotation: Any, schema: Any) -> None:
    assert property_of(annotation) == schema


def test_name_description_and_arguments_come_from_the_function() -> None:
    @tool
    async def list_shipments(
        port: str, ctx: ToolContext, limit: Annotated[int, "At most."] = 10, **more: Any
    ) -> list[Shipment]:
        """Lists shipments.

        Newest first.

        Args:
            port: Code of the port,
                five letters: UN/LOCODE.
            limit (int): Overridden by the annotation? No: the annotation is nearer.

        Returns:
            Shipments.
        """
        return [Shipment(port, 1.5)]

    assert list_shipments.name == "list_shipments"
    assert list_shipments.description == "Lists shipments.\n\nNewest first."
    assert list_shipments.parameters == {
        "type": "object",
        "properties": {
            "port": {
                "type": "string",
                "description": "Code of the port, five letters: UN/LOCODE.",
            },
            "limit": {"type": "integer", "description": "At most.", "default": 10},
        },
        "required": ["port"],
        "additionalProperties": True,
    }
    assert list_shipments.output_schema == {
        "type": "array",
        "items": {
            "type": "object",
            "properties": {
                "id": {"type": "string"},
                "tons": {"type": "number"},
                "paid": {"type": "boolean"},
            },
            "required": ["id", "tons", "paid"],
            "additionalProperties": False,
        },
    }


@pytest.mark.parametrize(
    "annotation", [Any, dict, dict[str, int], list, object, ToolResult, list[Any], Crate | dict]
)
@pytest.mark.req("cat.9")
def test_an_open_or_unknown_result_has_no_output_schema(annotation: Any) -> None:
    def f() -> Any: ...

    f.__annotations__ = {"return": annotation}
    assert tool(f).output_schema is None


def test_a_pydantic_result_is_closed_and_its_definitions_are_at_the_root() -> None:
    class Box(pydantic.BaseModel):
        crates: list[Crate]

    @tool
    def box() -> list[Box]:
        return []

    schema = box.output_schema
    assert schema["items"]["additionalProperties"] is False
    assert schema["$defs"]["Crate"]["additionalProperties"] is False
    assert schema["items"]["properties"]["crates"]["items"] == {"$ref": "#/$defs/Crate"}


def test_a_class_that_holds_itself_becomes_a_reference() -> None:
    @tool
    def plant(tree: Tree) -> None: ...

    assert plant.parameters["properties"]["tree"] == {"$ref": "#/$defs/Tree"}
    children = plant.parameters["$defs"]["Tree"]["properties"]["children"]
    assert children == {"type": "array", "items": {"$ref": "#/$defs/Tree"}}


def test_arguments_arrive_as_what_the_annotations_ask_for() -> None:
    @tool
    def take(
        a: Shipment,
        b: Color,
        c: Crate | None,
        d: set[int],
        e: tuple[int, Color],
        f: list[Stop],
        g: datetime.date,
        h: dict[str, Color],
        i: Tree,
        ctx: ToolContext,
        j: int = 3,
    ) -> Any:
        return (a, b, c, d, e, f, g, h, i, ctx, j)

    ctx = context()
    got = take.execute(
        {
            "a": {"id": "x", "tons": 1},
            "b": "red",
            "c": {"n": 1},
            "d": [1, 1],
            "e": [1, "blue"],
            "f": [{"port": "p", "days": 1}],
            "g": "2026-01-02",
            "h": {"k": "red"},
            "i": {"name": "r", "children": [{"name": "c"}]},
        },
        ctx,
    )
    assert got == (
        Shipment("x", 1),
        Color.RED,
        Crate(n=1),
        {1},
        (1, Color.BLUE),
        [{"port": "p", "days": 1}],
        datetime.date(2026, 1, 2),
        {"k": Color.RED},
        Tree("r", [Tree("c")]),
        ctx,
        3,
    )


def test_settings_of_the_decorator_win() -> None:
    @tool(
        name="n",
        description="d",
        owner="shop",
        label="L",
        output_schema={"type": "string"},
        direct_only=True,
        replay_safe=True,
    )
    def f() -> int:
        """Not this."""
        return 1

    assert (f.name, f.description, f.owner, f.label) == ("n", "d", "shop", "L")
    assert (f.output_schema, f.direct_only, f.replay_safe) == ({"type": "string"}, True, True)


def test_a_wrong_function_is_refused_by_parameter() -> None:
    class Opaque: ...

    def opaque(thing: Opaque) -> None: ...
    def positional(thing: int, /) -> None: ...
    def variadic(*things: int) -> None: ...
    def keys(thing: dict[int, str]) -> None: ...

    for function in (opaque, positional, variadic, keys):
        with pytest.raises(TypeError, match="thing"):
            tool(function)
    with pytest.raises(TypeError, match="@tool"):
        tool("name")  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("arguments", "error", "word"),
    [
        ({"name": 1}, TypeError, "name"),
        ({"description": None}, TypeError, "description"),
        ({"execute": 3}, TypeError, "execute"),
        ({"owner": 3}, TypeError, "owner"),
        ({"parameters": [1]}, TypeError, "parameters"),
        ({"output_schema": "string"}, TypeError, "output_schema"),
        ({"parameters": {"a": object()}}, ValueError, "parameters"),
        ({"parameters": {"a": float("nan")}}, ValueError, "parameters"),
        ({"source": "mcp"}, ValueError, "owner"),
    ],
)
def test_a_wrong_tool_is_refused_by_argument(
    arguments: dict[str, Any], error: type[Exception], word: str
) -> None:
    given = {"name": "t", "execute": lambda *_: None, **arguments}
    with pytest.raises(error, match=word):
        Tool(**given)


@pytest.mark.req("cat.1")
def test_owners_have_defaults_by_source() -> None:
    def made(**kwargs: Any) -> Tool:
        return Tool(name="t", execute=lambda *_: None, **kwargs)

    assert made().owner == "core"
    assert made(source="client").owner == "app"
    assert made(source="mcp", owner="github").owner == "github"
    assert [made().is_native, made(source="client").is_native] == [True, False]


def test_foreign_schemas_may_be_any_json() -> None:
    for schema in (True, [], "x", {"properties": {"a": {}}}):
        made = Tool(name="t", execute=lambda *_: None, source="mcp", owner="s", parameters=schema)
        assert made.parameters == schema


@pytest.mark.req("cat.7")
def test_a_result_without_details_is_its_content() -> None:
    block = {"type": "text", "text": "x"}
    assert ToolResult(content=[block]).value == {"content": [block]}
    assert ToolResult(content=[block], is_error=True).value == {
        "content": [block],
        "isError": True,
    }
    assert ToolResult(content=[block], details=None).value is None
    assert ToolResult(content=[block], details=[1]).value == [1]


async def test_an_abort_is_seen_by_who_asked_for_the_event_before() -> None:
    ctx = context()
    waiting = asyncio.ensure_future(ctx.aborted.wait())
    ctx.abort()
    assert await asyncio.wait_for(waiting, 1)
