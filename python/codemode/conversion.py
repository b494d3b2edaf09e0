"""JSON values as what annotations ask for."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import pathlib
import types
import typing
import uuid
from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Annotated, Any, Union, get_args, get_origin

from .schemas import (
    LISTS,
    MAPS,
    SETS,
    is_hashable,
    is_named_tuple,
    is_typed_dict,
    is_wrapper,
    supertype,
)

Converter = Callable[[Any], Any]


class Unfit(ValueError):
    """A value is not what an annotation asks for.

    Attributes:
        path: Where in the value, outermost first: `.name` and `[0]`.
    """

    def __init__(self, message: str, path: str = "") -> None:
        """See the class."""
        super().__init__(message)
        self.path = path


def _of(kind: type | tuple[type, ...], what: str, convert: Converter) -> Converter:
    """`convert` for values of one JSON type only, so that members of unions are told apart."""

    def checked(value: Any) -> Any:
        if not isinstance(value, kind):
            raise Unfit(f"it is not {what}")
        return convert(value)

    return checked


def _array(convert: Converter) -> Converter:
    def checked(value: Any) -> Any:
        if isinstance(value, (str, Mapping)) or not isinstance(value, Iterable):
            raise Unfit("it is not an array")
        return convert(value)

    return checked


def _text(what: str, convert: Converter) -> Converter:
    def checked(value: str) -> Any:
        try:
            return convert(value)
        except (ValueError, ArithmeticError):
            raise Unfit(f"{value[:80]!r} is not {what}") from None

    return _of(str, what, checked)


def _whole(value: float) -> int:
    """JSON knows one kind of number: 1e16 is an integer like any other."""
    if not value.is_integer():
        raise Unfit(f"{value!r} is not an integer")
    return int(value)


_FROM_JSON: dict[Any, Converter] = {
    int: _of(float, "an integer", _whole),
    datetime.datetime: _text(
        'a time like "2024-02-29T12:30:00Z"',
        lambda v: datetime.datetime.fromisoformat(v.replace("Z", "+00:00")),
    ),
    # A guest has no dates without a time.
    datetime.date: _text('a date like "2024-02-29"', lambda v: datetime.date.fromisoformat(v[:10])),
    datetime.time: _text('a time of day like "12:30:00"', datetime.time.fromisoformat),
    datetime.timedelta: _of(
        (int, float), "a number of seconds", lambda v: datetime.timedelta(seconds=v)
    ),
    decimal.Decimal: _text('a number as text, like "1.50"', decimal.Decimal),
    uuid.UUID: _text("a UUID", uuid.UUID),
    pathlib.Path: _text("a path", pathlib.Path),
}


_KINDS: dict[Any, tuple[type | tuple[type, ...], str]] = {
    str: (str, "a text"),
    bool: (bool, "true or false"),
    float: ((int, float), "a number"),
}


def converter(annotation: Any) -> Converter | None:
    """What makes a JSON value into what the annotation asks for; None if nothing is to be done."""
    if (named := supertype(annotation)) is not None:
        return converter(named)
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is Annotated or is_wrapper(origin):
        return converter(args[0])
    if origin is Union or origin is types.UnionType:
        return _union_converter(args)
    base = origin or annotation
    if is_hashable(base) and base in _FROM_JSON:
        convert = _FROM_JSON[base]
        # A hook of the host may give what the tool wants.
        return lambda v: v if isinstance(v, base) else convert(v)
    if base in (*LISTS, *SETS, tuple):
        return _array_converter(base, args)
    if base in MAPS and args:
        inner = converter(args[1])
        if inner is None:
            return None
        return _of(
            Mapping,
            "an object",
            lambda v: {k: fitted(inner, item, f".{k}") for k, item in v.items()},
        )
    if not isinstance(base, type):
        return None
    if issubclass(base, enum.Enum):
        return base
    if is_named_tuple(base):
        return _named_tuple_converter(base)
    if hasattr(base, "model_validate"):
        return _model_converter(base)
    if dataclasses.is_dataclass(base) or is_typed_dict(base):
        return _object_converter(base)
    return None


def fitted(convert: Converter, value: Any, step: str) -> Any:
    """Converts what is found at `step`.

    Raises:
        Unfit: It cannot be; says where and why.
    """
    try:
        return convert(value)
    except Unfit as error:
        raise Unfit(str(error), step + error.path) from error
    except Exception as error:
        raise Unfit(str(error) or "it cannot be used", step) from error


def _model_converter(cls: Any) -> Converter:
    def convert(value: Any) -> Any:
        try:
            return cls.model_validate(value)
        except ValueError as error:
            if not hasattr(error, "errors"):
                raise
            # Its own text has several lines, and the name of the class.
            told = [(".".join(map(str, one["loc"])), one["msg"]) for one in error.errors()]
            raise Unfit("; ".join(f"{at}: {what}" if at else what for at, what in told)) from error

    return convert


def _array_converter(base: Any, args: tuple[Any, ...]) -> Converter | None:
    make = {set: set, frozenset: frozenset, AbstractSet: frozenset, tuple: tuple}.get(base, list)
    if base is tuple and args and args[-1] is not Ellipsis:
        each = [None if arg == () else converter(arg) for arg in args]
        return _array(
            lambda v: tuple(
                item if c is None else fitted(c, item, f"[{n}]")
                for n, (c, item) in enumerate(zip(each, v, strict=False))
            )
        )
    inner = converter(args[0]) if args else None
    if inner is None:
        return None if make is list else _array(make)
    return _array(lambda v: make(fitted(inner, item, f"[{n}]") for n, item in enumerate(v)))


def _named_tuple_converter(cls: Any) -> Converter:
    each: list[Converter | None] | None = None

    def convert(value: Any) -> Any:
        nonlocal each
        if each is None:
            # Now and not before: a class may hold itself.
            hints = typing.get_type_hints(cls, include_extras=True)
            each = [converter(hints.get(name, Any)) for name in cls._fields]
        pairs = enumerate(zip(each, value, strict=False))
        return cls(*(item if c is None else fitted(c, item, f"[{n}]") for n, (c, item) in pairs))

    return _array(convert)


def _union_converter(args: tuple[Any, ...]) -> Converter | None:
    members = [arg for arg in args if arg is not type(None)]
    each = [(arg, converter(arg)) for arg in members]
    found = [c for _, c in each if c is not None]
    if not found:
        return None
    # What is converted comes first: every date is a text as well.
    found += [_plain(arg) for arg, c in each if c is None]

    def convert(value: Any) -> Any:
        if value is None:
            return None
        failures: list[Unfit] = []
        for c in found:
            try:
                return fitted(c, value, "")
            except Unfit as error:  # noqa: PERF203 -- the next member may fit
                failures.append(error)
        if len(failures) == 1:
            raise failures[0]
        raise Unfit(" or ".join(dict.fromkeys(str(error) for error in failures)))

    return convert


def _plain(annotation: Any) -> Converter:
    """Takes what is of the kind of an annotation for which nothing is converted."""
    if (named := supertype(annotation)) is not None:
        return _plain(named)
    origin = get_origin(annotation)
    if origin is Annotated or is_wrapper(origin):
        return _plain(get_args(annotation)[0])
    base = origin or annotation
    if base in LISTS:
        return _array(_same)
    if base in MAPS:
        return _of(Mapping, "an object", _same)
    if is_hashable(base) and base in _KINDS:
        return _of(*_KINDS[base], _same)
    return _same


def _same(value: Any) -> Any:
    return value


def _object_converter(cls: Any) -> Converter:
    make = dict if is_typed_dict(cls) else cls
    members: dict[str, Converter | None] | None = None

    def convert(value: Any) -> Any:
        nonlocal members
        if members is None:
            # Now and not before: a class may hold itself.
            hints = typing.get_type_hints(cls, include_extras=True)
            members = {name: converter(hint) for name, hint in hints.items()}
        converted = {}
        for name, item in value.items():
            inner = members.get(name)
            converted[name] = item if inner is None else fitted(inner, item, f".{name}")
        return make(**converted)

    return _of(Mapping, "an object", convert)
