"""`encode` and `decode`: what crosses, in which form, and what is refused with which words."""

from __future__ import annotations

import array
import collections
import collections.abc
import dataclasses
import datetime as dt
import decimal
import enum
import fractions
import ipaddress
import json
import math
import pathlib
import random
import struct
import threading
import types
import uuid
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from codemode._engine import decode, encode

if TYPE_CHECKING:
    from collections.abc import Iterator

SAFE = 2**53 - 1


def cross(value: object) -> Any:
    return decode(encode(value))


def same(a: object, b: object) -> bool:
    """Equality that tells 1 from True and from 1.0."""
    if isinstance(a, dict) and isinstance(b, dict):
        return list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and a == b


TEXT = st.text(st.characters(exclude_categories=["Cs"]))
FLOATS = st.floats(allow_nan=False, allow_infinity=False).filter(
    lambda f: not (f.is_integer() and abs(f) <= SAFE)
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | FLOATS | TEXT,
    lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner),
    max_leaves=40,
)


# --- values that cross


@pytest.mark.req("gst.4")
@given(JSON)
@example({"__proto__": {"toJSON": 1}, "constructor": None})
@example([SAFE, -SAFE, SAFE + 1, -SAFE - 1, 2**63, -(2**63), 10**4299, -(10**4299)])
@example(["", "\0", "\U0010ffff", "e\u0301", "\u2028"])
@example({"": {"": []}})
def test_a_json_value_comes_back_as_it_was(value: object) -> None:
    assert same(cross(value), value)


@pytest.mark.req("gst.4")
@given(st.floats())
def test_a_number_comes_back_as_javascript_has_it(number: float) -> None:
    got = cross(number)
    if not math.isfinite(number):
        assert got is None
    elif number.is_integer() and abs(number) <= SAFE:
        assert same(got, int(number))
    else:
        assert same(got, number)


@pytest.mark.req("gst.4")
@given(st.text())
@example("\ud800")
@example("a\udfff\ud800b")
def test_lone_surrogates_become_replacement_characters(text: str) -> None:
    halves = text.encode("utf-16-le", "surrogatepass")
    assert cross(text) == halves.decode("utf-16-le", "replace")
    assert cross({text: 1}) == {cross(text): 1}


def test_a_surrogate_pair_is_its_character() -> None:
    assert cross("\ud83d\ude00") == "😀"


@pytest.mark.req("gst.4")
def test_of_equal_keys_the_last_wins() -> None:
    assert cross({1: "a", "1": "b"}) == {"1": "b"}
    twice = b"\x08\2\0\0\0" + b"\1k" + encode(1) + b"\1k" + encode(2)
    assert decode(twice) == {"k": 2}


@given(st.dictionaries(st.text() | st.integers() | st.booleans() | st.none(), st.integers()))
@example({1.5: 0, math.inf: 1, -math.inf: 2, 1e300: 3, True: 4, None: 5, -0.0: 6})
def test_keys_are_written_as_the_json_module_writes_them(value: dict[Any, int]) -> None:
    clean = {cross(k) if isinstance(k, str) else k: v for k, v in value.items()}
    assert cross(clean) == json.loads(json.dumps(clean))


def test_a_not_a_number_key_is_written_as_the_json_module_writes_it() -> None:
    assert cross({math.nan: 1}) == {"NaN": 1}


def test_many_different_and_long_keys_are_kept_apart() -> None:
    rows = [{f"key {i} {j}": j for j in range(300)} for i in range(3)]
    rows.append({"k" * n: n for n in range(60, 70)})
    assert cross(rows) == rows


def test_tuples_and_sets_are_lists() -> None:
    assert cross((1, (2,), ())) == [1, [2], []]
    assert cross({3, 1, 2}) == [1, 2, 3]
    assert cross(frozenset({"b", "a"})) == ["a", "b"]
    assert sorted(cross({1, "a", None}), key=str) == [1, None, "a"]
    assert cross(Point(1, 2)) == [1, 2]


def test_equal_sets_are_equal_bytes() -> None:
    names = [f"name {i}" for i in range(100)]
    shuffled = random.Random(1).sample(names, len(names))
    assert encode(set(names)) == encode(set(shuffled))


class Point(NamedTuple):
    x: int
    y: int


class Color(enum.Enum):
    RED = "red"
    BOTH = ("red", 2)


class Level(enum.IntEnum):
    HIGH = 3


class Word(str, enum.Enum):
    YES = "yes"


class Loud(str):
    __slots__ = ()

    def __str__(self) -> str:
        return "LOUD"


class Odd(int):
    def __repr__(self) -> str:
        return "odd"


@dataclasses.dataclass
class Inner:
    when: dt.date


@dataclasses.dataclass(frozen=True)
class Outer:
    kind: ClassVar[str] = "outer"
    color: Color
    inner: list[Inner] = dataclasses.field(default_factory=list)


@dataclasses.dataclass(slots=True)
class Slotted:
    a: int


class Model:
    """Has what a pydantic model has."""

    def __init__(self, **fields: object) -> None:
        self.fields = fields

    def model_dump(self, *, mode: str) -> dict[str, object]:
        assert mode == "json"
        return self.fields


ZONE = dt.timezone(dt.timedelta(hours=2))


class Evens(collections.abc.Set[int]):
    """A set of one's own."""

    def __contains__(self, x: object) -> bool:
        return x in (2, 4)

    def __iter__(self) -> Iterator[int]:
        return iter((4, 2))

    def __len__(self) -> int:
        return 2


class Endless(collections.abc.Sequence[int]):
    """Has more items than it says."""

    def __getitem__(self, at: Any) -> Any:
        return at

    def __len__(self) -> int:
        return 3


STAND_INS: list[tuple[object, object]] = [
    (Color.RED, "red"),
    (Color.BOTH, ["red", 2]),
    (Level.HIGH, 3),
    (Word.YES, "yes"),
    (Loud("quiet"), "quiet"),
    (Odd(5), 5),
    (Odd(2**60), 2**60),
    ({Odd(5): {Word.YES: 1}}, {"5": {"yes": 1}}),
    (Outer(color=Color.RED, inner=[Inner(dt.date(2024, 2, 29))]), None),
    (Slotted(1), {"a": 1}),
    (Model(a=Model(b=1)), {"a": {"b": 1}}),
    (dt.datetime(2024, 2, 29, 1, 2, 3, 4, ZONE), "2024-02-29T01:02:03.000004+02:00"),
    (dt.date(2024, 2, 29), "2024-02-29"),
    (dt.time(1, 2), "01:02:00"),
    (dt.timedelta(days=1, milliseconds=500), 86400.5),
    (uuid.UUID(int=5), "00000000-0000-0000-0000-000000000005"),
    (pathlib.PurePosixPath("/a/b"), "/a/b"),
    (pathlib.Path("a"), "a"),
    (decimal.Decimal("1.10"), "1.10"),
    (fractions.Fraction(1, 3), "1/3"),
    (types.MappingProxyType({"a": 1}), {"a": 1}),
    (collections.OrderedDict(b=1, a=2), {"b": 1, "a": 2}),
    (collections.ChainMap({"a": 1}), {"a": 1}),
    (collections.Counter("aa"), {"a": 2}),
    (collections.UserDict(a=1), {"a": 1}),
    (types.SimpleNamespace(a=1, b=Color.RED), {"a": 1, "b": "red"}),
    (collections.deque([1, Color.RED]), [1, "red"]),
    (range(3), [0, 1, 2]),
    (array.array("i", [1, 2]), [1, 2]),
    (collections.UserList("ab"), ["a", "b"]),
    (collections.UserString("ab"), "ab"),
    ({"b": 1, "a": 2}.keys(), ["b", "a"]),
    ({"b": 1, "a": 2}.values(), [1, 2]),
    ({"b": 1}.items(), [["b", 1]]),
    (Evens(), [2, 4]),
    (ipaddress.ip_address("192.0.2.1"), "192.0.2.1"),
    (ipaddress.ip_network("2001:db8::/32"), "2001:db8::/32"),
]


@pytest.mark.req("gst.4")
@pytest.mark.parametrize(("value", "form"), STAND_INS, ids=lambda v: type(v).__name__)
def test_a_library_object_has_a_form(value: object, form: object) -> None:
    if form is None:
        form = {"color": "red", "inner": [{"when": "2024-02-29"}]}
    assert same(cross(value), form)


def test_a_pydantic_model_crosses() -> None:
    pydantic = pytest.importorskip("pydantic")
    model = pydantic.create_model("Shipment", port=(str, ...), when=(dt.date, ...))
    value = [model(port="x", when=dt.date(2024, 1, 2))]
    assert cross(value) == [{"port": "x", "when": "2024-01-02"}]


def test_an_attrs_class_crosses() -> None:
    attrs = pytest.importorskip("attrs")
    model = attrs.make_class("Shipment", ["port", "when"])
    assert cross([model("x", dt.date(2024, 1, 2))]) == [{"port": "x", "when": "2024-01-02"}]


def test_numpy_values_cross() -> None:
    numpy = pytest.importorskip("numpy")
    assert cross({"a": numpy.int64(3), "b": numpy.eye(2)}) == {"a": 3, "b": [[1, 0], [0, 1]]}


# --- values that do not


REFUSED: list[tuple[object, type[Exception], str]] = [
    (
        {"rows": [1, 2, 3, {"when": threading.Lock()}]},
        TypeError,
        "$.rows[3].when: a lock object cannot be turned into JSON; return dicts, lists, strings, ",
    ),
    (object, TypeError, "$: a class cannot be turned into JSON"),
    (Color, TypeError, "$: a class cannot be turned into JSON"),
    (Inner, TypeError, "$: a class cannot be turned into JSON"),
    (
        (i for i in [1]),
        TypeError,
        "$: a generator object cannot be turned into JSON; return a list",
    ),
    (map(str, [1]), TypeError, "$: a map object cannot be turned into JSON; return a list"),
    ([range(10**12)], ValueError, "$[0]: a range of 1000000000000 items cannot cross"),
    ([range(10**30)], TypeError, "$[0]: len() of a range object raised OverflowError"),
    ([Endless()], ValueError, "$[0]: changed while it was read"),
    (print, TypeError, "$: a builtin_function_or_method object cannot"),
    (1j, TypeError, "$: a complex object cannot be turned into JSON"),
    ([b"secret"], TypeError, "$[0]: binary data (bytes) cannot cross; return text, base64 text"),
    ([bytearray(b"secret")], TypeError, "$[0]: binary data (bytearray) cannot cross"),
    ([memoryview(b"secret")], TypeError, "$[0]: binary data (memoryview) cannot cross"),
    ({"a": {("secret",): 1}}, TypeError, "$.a: a tuple object cannot be a key"),
    ({dt.date(2024, 1, 1): 1}, TypeError, "$: a date object cannot be a key"),
    ({"odd key": {"1x": [b""]}}, TypeError, '$["odd key"]["1x"][0]: binary'),
    ({"ключ": b""}, TypeError, "$.ключ: binary"),
    ({"k" * 100: b""}, TypeError, f'$["{"k" * 40}…"]: binary'),
    ({Color.RED: 1}, TypeError, "$: a Color object cannot be a key"),
    ([10**4300], ValueError, "$[0]: an integer with so many digits cannot cross"),
    ([-(10**5000)], ValueError, "$[0]: an integer with so many digits cannot cross"),
    (Outer(color=Color.RED, inner=[threading.Lock()]), TypeError, "$.inner[0]: a lock"),  # type: ignore[list-item]
    ({1: {None: b""}}, TypeError, '$["1"].null: binary'),
]


@pytest.mark.req("gst.4")
@pytest.mark.parametrize(("value", "error", "text"), REFUSED, ids=[r[2][:40] for r in REFUSED])
def test_a_refusal_names_path_and_type(value: object, error: type[Exception], text: str) -> None:
    with pytest.raises(error) as caught:
        encode(value)
    assert str(caught.value).startswith(text)
    assert "secret" not in str(caught.value)


def test_a_coroutine_is_told_to_be_awaited() -> None:
    async def tool() -> int:
        return 1

    coroutine = tool()
    with pytest.raises(TypeError, match=r"\$\.a: a coroutine object .*; it was not awaited"):
        encode({"a": coroutine})
    coroutine.close()


class Secretive:
    def __repr__(self) -> str:
        return "secret"

    __str__ = __repr__


@dataclasses.dataclass
class Half:
    missing: int = dataclasses.field(init=False)


class Broken:
    def model_dump(self, *, mode: str) -> object:
        raise LookupError(f"secret {mode}")


def test_what_an_object_raises_is_the_cause_and_not_the_message() -> None:
    with pytest.raises(TypeError) as caught:
        encode([Broken()])
    assert str(caught.value) == "$[0]: model_dump() of a Broken object raised LookupError"
    assert isinstance(caught.value.__cause__, LookupError)
    with pytest.raises(TypeError, match="the attribute missing of a Half object raised Attribute"):
        encode(Half())
    with pytest.raises(TypeError, match=r"\$: a Secretive object"):
        encode(Secretive())


class Interrupting:
    def model_dump(self, *, mode: str) -> object:
        raise KeyboardInterrupt


def test_an_interrupt_passes_unchanged() -> None:
    with pytest.raises(KeyboardInterrupt):
        encode([Interrupting()])


def test_an_object_that_answers_to_every_name_is_refused() -> None:
    class Anything:
        def __getattr__(self, name: str) -> object:
            return lambda *_, **__: self

    with pytest.raises(TypeError, match="Anything"):
        encode(Anything())


def cyclic_list() -> object:
    value: list[object] = [1]
    value.append({"self": value})
    return value


def cyclic_wide() -> object:
    value: list[object] = [0] * 100_000
    value.append(value)
    return value


def cyclic_data_class() -> object:
    value = Inner(dt.date(2024, 1, 1))
    value.when = [value]  # type: ignore[assignment]
    return value


def cyclic_mapping() -> object:
    inner: dict[str, object] = {}
    proxy = types.MappingProxyType(inner)
    inner["again"] = proxy
    return proxy


@pytest.mark.req("gst.4")
@pytest.mark.parametrize(
    ("value", "text"),
    [
        (cyclic_list(), "$[1].self: this list contains itself"),
        (cyclic_wide(), "$[100000]: this list contains itself"),
        (cyclic_data_class(), "$.when[0]: this Inner contains itself"),
        (cyclic_mapping(), "$.again: this mappingproxy contains itself"),
    ],
    ids=["list", "wide list", "data class", "mapping"],
)
def test_a_cycle_names_its_path(value: object, text: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 -- the text is compared as a whole
        encode(value)
    assert str(caught.value) == text


def test_the_same_object_twice_is_no_cycle() -> None:
    shared = {"a": 1}
    assert cross([shared, shared, {"b": shared}]) == [shared, shared, {"b": shared}]


def nested(depth: int) -> object:
    value: object = 1
    for i in range(depth):
        value = [value] if i % 2 else {"k": value}
    return value


@pytest.mark.req("gst.4")
def test_depth_is_bounded() -> None:
    assert cross(nested(512)) == nested(512)
    for depth in (513, 600):
        with pytest.raises(ValueError, match=r"^\$.* …\d+ levels… .*nested deeper than 512 levels"):
            encode(nested(depth))
    value: object = nested(100_000)
    with pytest.raises(ValueError, match="512 levels"):
        encode(value)
    while isinstance(value, (dict, list)):  # the interpreter's own destructor is recursive
        value = value["k"] if isinstance(value, dict) else value[0]


def test_stand_ins_without_end_are_bounded() -> None:
    class Endless:
        def model_dump(self, *, mode: str) -> object:
            return Endless()

    with pytest.raises(ValueError, match="nested deeper"):
        encode(Endless())


def test_depth_is_bounded_on_a_small_stack() -> None:
    old = threading.stack_size(1 << 20)
    results: list[object] = []
    try:
        thread = threading.Thread(target=lambda: results.append(cross(nested(512))))
        thread.start()
        thread.join()
    finally:
        threading.stack_size(old)
    assert results == [nested(512)]


@pytest.mark.parametrize(
    "value", [["x" * 1000], {"x" * 1000: 1}, [1] * 1000, [[]] * 300, [10**1000], [None] * 1000]
)
def test_size_is_bounded(value: object) -> None:
    size = len(encode(value))
    assert len(encode(value, size)) == size
    with pytest.raises(ValueError, match=rf"at least \d+ bytes, the limit is {size - 1}$"):
        encode(value, size - 1)
    with pytest.raises(ValueError, match=r"the limit is 100$"):
        encode(value, max_bytes=100)


class Shrinking:
    """Changes what holds it while it is read."""

    def __init__(self, holder: Any) -> None:
        self.holder = holder

    def model_dump(self, *, mode: str) -> int:
        self.holder.clear()
        return 1


class Growing(Shrinking):
    def model_dump(self, *, mode: str) -> int:
        self.holder[f"new {len(self.holder)}"] = 1
        return 1


class Swapping(Shrinking):
    def model_dump(self, *, mode: str) -> int:
        for i, key in enumerate(list(self.holder)):
            self.holder[f"swapped {i}"] = self.holder.pop(key)
        return 1


@pytest.mark.parametrize("kind", [Shrinking, Growing, Swapping])
def test_a_dict_that_changes_meanwhile_is_an_error_at_most(kind: type[Shrinking]) -> None:
    holder: dict[str, object] = {}
    for i in range(20):
        holder[f"k{i}"] = kind(holder)
    try:
        encode(holder)
    except ValueError as error:
        assert str(error) == "$: changed while it was read"  # noqa: PT017 -- either is right
    else:
        assert kind is Swapping


def test_a_list_that_shrinks_meanwhile_is_an_error() -> None:
    holder: list[object] = []
    holder += [Shrinking(holder), 1, 2]
    with pytest.raises(ValueError, match="changed while it was read"):
        encode(holder)


# --- bytes that are no value


@pytest.mark.hostile
@pytest.mark.req("saf.4")
@given(st.binary(max_size=200))
@example(b"")
@example(b"\x09")
@example(b"\0\0")
@example(b"\6\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")
@example(b"\6\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff")
@example(b"\7\xff\xff\xff\xff")
@example(b"\x08\1\0\0\0\1\xff\0")
@example(b"\5" + struct.pack("<d", math.inf))
@example(b"\4\0")
@example(b"\4\1-")
@example(b"\4\5" + "٣٣a".encode())
def test_any_bytes_are_a_value_or_a_value_error(data: bytes) -> None:
    try:
        value = decode(data)
    except ValueError:
        return
    assert same(cross(value), value)


@pytest.mark.hostile
@pytest.mark.req("saf.4")
@given(JSON, st.data())
def test_a_value_cut_short_is_refused(value: object, data: st.DataObject) -> None:
    whole = encode(value)
    cut = data.draw(st.integers(0, len(whole) - 1))
    with pytest.raises(ValueError, match="shorter than it says"):
        decode(whole[:cut])


@pytest.mark.hostile
def test_deep_bytes_are_refused() -> None:
    with pytest.raises(ValueError, match="512 levels"):
        decode(b"\7\1\0\0\0" * 100_000 + b"\0")


@pytest.mark.hostile
def test_an_integer_of_a_million_digits_is_refused_quickly() -> None:
    digits = b"9" * 1_000_000
    with pytest.raises(ValueError, match="an integer of 1000000 digits is too large for Python"):
        decode(b"\4\xc0\x84\x3d" + digits)


# --- speed


@pytest.mark.bench
def test_ten_thousand_rows_cross(benchmark: Any) -> None:
    rows = [
        {"id": i, "name": f"row {i}", "ok": i % 2 == 0, "score": i / 3, "tag": None}
        for i in range(10_000)
    ]
    data = encode(rows)
    assert decode(data) == rows
    benchmark(decode, data)
