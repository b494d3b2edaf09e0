"""What annotations say beyond types: limits, defaults, aliases, subclasses, named forms."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from typing import Annotated, Any, NamedTuple, NewType

import annotated_types
import pydantic
import pytest
from pydantic import Field
from pydantic.alias_generators import to_camel
from typing_extensions import NotRequired, TypedDict

from codemode import CodeMode, Tool, tool
from codemode.scope import Scope
from codemode.tools import ToolContext

Metres = NewType("Metres", int)


class Berth(NamedTuple):
    """A place in a port."""

    port: str
    depth: Metres = Metres(7)
    next: Berth | None = None


class Query(TypedDict, total=False):
    """Required and NotRequired are text here."""

    text: Annotated[str, "What to look for."]


class Wide(Query):
    """All but one."""

    port: NotRequired[str]
    days: int


class Ship(pydantic.BaseModel):
    """With aliases."""

    model_config = pydantic.ConfigDict(alias_generator=to_camel, populate_by_name=True)
    ship_id: int


class Tanker(Ship):
    """With a member that `Ship` has not."""

    oil_tons: int = 5


@dataclasses.dataclass
class Crew:
    """A dataclass."""

    head: str


@dataclasses.dataclass
class Watch(Crew):
    """With a member that `Crew` has not."""

    hours: int = 4


def context() -> ToolContext:
    return ToolContext(call_id="c", scope=Scope())


def schema_of(annotation: Any, default: Any = inspect.Parameter.empty) -> dict[str, Any]:
    def f(x: Any = default) -> None: ...

    f.__annotations__["x"] = annotation
    parameters: dict[str, Any] = tool(f).parameters
    return parameters


@pytest.mark.parametrize(
    ("annotation", "limits"),
    [
        (Annotated[int, Field(ge=1, lt=5, multiple_of=2)],
         {"minimum": 1, "exclusiveMaximum": 5, "multipleOf": 2}),
        (Annotated[float, annotated_types.Interval(gt=0, le=1)],
         {"exclusiveMinimum": 0, "maximum": 1}),
        (Annotated[str, Field(min_length=1, max_length=3, pattern="^a", description="d")],
         {"minLength": 1, "maxLength": 3, "pattern": "^a", "description": "d"}),
        (Annotated[list[int], annotated_types.Len(1, 2)], {"minItems": 1, "maxItems": 2}),
        (Annotated[dict[str, int], Field(max_length=3)], {"maxProperties": 3}),
    ],
)  # fmt: skip
@pytest.mark.req("cat.10")
def test_limits_in_annotations_are_part_of_the_schema(
    annotation: Any, limits: dict[str, Any]
) -> None:
    stated = schema_of(annotation)["properties"]["x"]
    assert {key: stated[key] for key in limits} == limits


def test_a_field_as_default_states_limits_and_makes_the_default() -> None:
    @tool
    def f(
        a: int = Field(7, ge=2),
        b: list[int] = Field(default_factory=list),  # noqa: B008 -- what is tested
        c: int = Field(lt=3),
    ) -> Any:
        return [a, b, c]

    properties = f.parameters["properties"]
    assert properties["a"] == {"type": "integer", "minimum": 2, "default": 7}
    assert properties["c"] == {"type": "integer", "exclusiveMaximum": 3}
    assert f.parameters["required"] == ["c"]
    assert f.execute({"c": 1}, context()) == [7, [], 1]


def test_required_is_read_where_annotations_are_text() -> None:
    assert schema_of(Query)["properties"]["x"].get("required") is None
    wide = schema_of(Wide)["properties"]["x"]
    assert wide["required"] == ["days"]
    assert set(wide["properties"]) == {"text", "port", "days"}


def test_new_types_and_named_tuples_have_a_form() -> None:
    assert schema_of(Metres)["properties"]["x"] == {"type": "integer"}

    @tool
    def f(berth: Berth) -> Berth:
        return berth

    form = f.parameters["$defs"]["Berth"]
    assert (form["minItems"], form["maxItems"], form["items"]) == (1, 3, False)
    assert f.execute({"berth": ["NLRTM", 9.0, ["BEANR"]]}, context()) == Berth(
        "NLRTM", Metres(9), Berth("BEANR")
    )
    assert f.output_schema is not None
    assert f.output_schema["$defs"]["Berth"]["minItems"] == 3


def test_items_of_a_set_may_be_given_twice() -> None:
    @tool
    def f(ports: set[str]) -> int:
        return len(ports)

    assert f.parameters["properties"]["ports"] == {"type": "array", "items": {"type": "string"}}
    assert f.execute({"ports": ["a", "a"]}, context()) == 1


def test_a_partial_function_is_named_and_described_by_what_it_calls() -> None:
    def add(a: int, b: int) -> int:
        """Adds."""
        return a + b

    made = tool(functools.partial(add, b=9))
    assert (made.name, made.description, made.parameters["required"]) == ("add", "Adds.", ["a"])
    assert made.execute({"a": 1}, context()) == 10


def test_what_cannot_be_a_tool_is_refused_where_it_is_made() -> None:
    def rows(n: int) -> Any:
        yield n

    async def pages(n: int) -> Any:
        yield n

    for generator in (rows, pages, functools.partial(rows, n=1)):
        with pytest.raises(TypeError, match=r"(rows|pages) is a generator.* return a list"):
            tool(generator)
    with pytest.raises(TypeError, match=r"a lambda has no name"):
        tool(lambda: 1)
    assert tool(name="one")(lambda: 1).name == "one"


async def values_of(*tools: Tool) -> dict[str, Any]:
    async with CodeMode({"enabled": True}) as mode:
        run = mode.run(tools)
        code = """
            const out = {}
            for (const t of ALL_TOOLS) out[t.name] = await tools.callValue(t.id, {})
            return out
        """
        result = (await run.exec({"code": code})).to_dict()
    assert result["status"] == "completed", result
    value: dict[str, Any] = result["value"]
    return value


@pytest.mark.req("cat.9")
async def test_results_cross_by_the_names_of_their_schema() -> None:
    @tool
    async def one() -> Ship:
        return Ship(ship_id=1)

    @tool
    async def several() -> list[Ship]:
        return [Ship(ship_id=1)]

    @tool
    def maybe() -> Ship | None:
        return Ship(ship_id=1)

    @tool
    def loose() -> Any:
        return {"ship": Ship(ship_id=1)}

    assert await values_of(one, several, maybe, loose) == {
        "one": {"shipId": 1},
        "several": [{"shipId": 1}],
        "maybe": {"shipId": 1},
        "loose": {"ship": {"shipId": 1}},
    }


@pytest.mark.req("cat.9")
async def test_an_instance_of_a_subclass_is_what_the_function_says_that_it_returns() -> None:
    @tool
    async def model() -> Ship:
        return Tanker(ship_id=1)

    @tool
    def models() -> list[Ship | Crew]:
        return [Tanker(ship_id=1), Ship(ship_id=2), Watch("a")]

    @tool
    def data() -> Crew | None:
        return Watch("a")

    assert await values_of(model, models, data) == {
        "model": {"shipId": 1},
        "models": [{"shipId": 1}, {"shipId": 2}, {"head": "a"}],
        "data": {"head": "a"},
    }
