"""Python annotations as JSON Schema, and JSON values as what annotations ask for."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import pathlib
import types
import typing
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Annotated, Any, Literal, Union, get_args, get_origin

Converter = Callable[[Any], Any]

_SCALARS: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    None: {"type": "null"},
    type(None): {"type": "null"},
    datetime.datetime: {"type": "string", "format": "date-time"},
    datetime.date: {"type": "string", "format": "date"},
    datetime.time: {"type": "string", "format": "time"},
    datetime.timedelta: {"type": "number", "description": "Seconds."},
    decimal.Decimal: {"type": "string"},
    uuid.UUID: {"type": "string", "format": "uuid"},
    pathlib.Path: {"type": "string"},
}


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


def _text(what: str, convert: Converter) -> Converter:
    def checked(value: str) -> Any:
        try:
            return convert(value)
        except (ValueError, ArithmeticError):
            raise Unfit(f"{value[:80]!r} is not {what}") from None

    return _of(str, what, checked)


def _whole(value: Any) -> int:
    """JSON knows one kind of number: 1e16 is an integer like any other."""
    if isinstance(value, float) and not value.is_integer():
        raise Unfit(f"{value!r} is not an integer")
    return int(value)


_FROM_JSON: dict[Any, Converter] = {
    int: _of((int, float), "an integer", _whole),
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
_LISTS = (list, Sequence, Iterable)
_SETS = (set, frozenset, AbstractSet)
_MAPS = (dict, Mapping)
_WRAPPERS = {"Required", "NotRequired", "ReadOnly", "Final"}


class SchemaError(Exception):
    """An annotation has no JSON form, or (of an output) does not say all of it."""


class Schemas:
    """Reads annotations into schemas that share one set of definitions."""

    def __init__(self, *, output: bool = False) -> None:
        """Makes a reader.

        Args:
            output: What is read describes a result: refuse what is open or not described.
        """
        self._output = output
        self._definitions: dict[str, Any] = {}
        self._stack: list[type] = []
        self._recursive: set[type] = set()

    def with_definitions(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Adds the shared definitions to a root schema."""
        return {**schema, "$defs": self._definitions} if self._definitions else schema

    def read(self, annotation: Any) -> dict[str, Any]:
        """The schema of an annotation.

        Raises:
            SchemaError: See the class.
        """
        scalar = _SCALARS.get(annotation) if _is_hashable(annotation) else None
        if scalar is not None:
            return dict(scalar)
        origin, args = get_origin(annotation), get_args(annotation)
        if origin is Annotated:
            schema = self.read(args[0])
            for note in args[1:]:
                text = note if isinstance(note, str) else getattr(note, "description", None)
                if isinstance(text, str) and "$ref" not in schema:
                    schema["description"] = text
            return schema
        if _name(origin) in _WRAPPERS:
            return self.read(args[0])
        if origin is Literal:
            return {"enum": list(args)}
        if origin is Union or origin is types.UnionType:
            return self._union(args)
        if annotation is Any or annotation is object or isinstance(annotation, typing.TypeVar):
            if self._output:
                raise SchemaError("the form is not stated")
            return {}
        return self._collection(annotation, origin, args)

    def _union(self, args: tuple[Any, ...]) -> dict[str, Any]:
        members = [self.read(arg) for arg in args]
        if all(set(member) == {"type"} for member in members):
            return {"type": list(dict.fromkeys(member["type"] for member in members))}
        return {"anyOf": members}

    def _collection(self, annotation: Any, origin: Any, args: tuple[Any, ...]) -> dict[str, Any]:
        base = origin or annotation
        if base in _LISTS or base in _SETS:
            schema: dict[str, Any] = {"type": "array", "items": self.read(args[0] if args else Any)}
            if base in _SETS:
                schema["uniqueItems"] = True
            return schema
        if base is tuple:
            return self._tuple(args)
        if base in _MAPS:
            if self._output:
                raise SchemaError("an object with any keys is open")
            if args and args[0] not in (str, Any):
                raise SchemaError("keys of objects are strings")
            return {"type": "object", "additionalProperties": self.read(args[1]) if args else True}
        if isinstance(base, type):
            return self._class(base)
        raise SchemaError(f"{annotation!r} has no JSON form")

    def _tuple(self, args: tuple[Any, ...]) -> dict[str, Any]:
        if not args:
            return {"type": "array", "items": self.read(Any)}
        if len(args) == 2 and args[1] is Ellipsis:
            return {"type": "array", "items": self.read(args[0])}
        items = [] if args == ((),) else [self.read(arg) for arg in args]
        return {
            "type": "array",
            "prefixItems": items,
            "items": False,
            "minItems": len(items),
            "maxItems": len(items),
        }

    def _class(self, cls: type) -> dict[str, Any]:
        if issubclass(cls, enum.Enum):
            return {"enum": [member.value for member in cls]}
        if hasattr(cls, "model_json_schema"):
            return self._pydantic(cls)
        if not (dataclasses.is_dataclass(cls) or typing.is_typeddict(cls)):
            raise SchemaError(f"{cls.__name__} has no JSON form")
        name = cls.__name__
        if cls in self._stack:
            self._recursive.add(cls)
            return {"$ref": f"#/$defs/{name}"}
        self._stack.append(cls)
        schema = self._members(cls)
        self._stack.pop()
        if cls in self._recursive:
            self._define(name, schema)
            return {"$ref": f"#/$defs/{name}"}
        return schema

    def _members(self, cls: type) -> dict[str, Any]:
        hints = typing.get_type_hints(cls, include_extras=True)
        if dataclasses.is_dataclass(cls):
            # Of an input, what `__init__` takes; of an output, all there is.
            fields = [f for f in dataclasses.fields(cls) if self._output or f.init]
            names = [f.name for f in fields]
            missing = dataclasses.MISSING
            required = [
                f.name
                for f in fields
                if self._output or (f.default is missing and f.default_factory is missing)
            ]
        else:
            names = list(hints)
            keys: frozenset[str] = cls.__required_keys__  # type: ignore[attr-defined]
            required = [name for name in names if name in keys]
        schema: dict[str, Any] = {
            "type": "object",
            "properties": {name: self.read(hints[name]) for name in names},
        }
        if required:
            schema["required"] = required
        schema["additionalProperties"] = False
        return schema

    def _pydantic(self, cls: Any) -> dict[str, Any]:
        mode = "serialization" if self._output else "validation"
        try:
            schema: dict[str, Any] = cls.model_json_schema(mode=mode)
        except Exception as error:  # noqa: BLE001 -- pydantic has many
            raise SchemaError(f"{cls.__name__} has no JSON Schema: {error}") from None
        if self._output:
            _close(schema)
        for name, definition in schema.pop("$defs", {}).items():
            self._define(name, definition)
        return schema

    def _define(self, name: str, schema: Any) -> None:
        if self._definitions.setdefault(name, schema) != schema:
            raise SchemaError(f"two different classes are called {name}")


def _close(schema: Any) -> None:
    """Closes objects with stated members: pydantic writes no others unless it is told to."""
    if isinstance(schema, list):
        for item in schema:
            _close(item)
    elif isinstance(schema, dict):
        if (
            schema.get("type") == "object"
            and schema.setdefault("additionalProperties", False) is not False
        ):
            raise SchemaError("an object with any keys is open")
        for key, item in schema.items():
            if key in ("properties", "$defs"):
                _close(list(item.values()))
            elif key not in ("default", "examples", "enum", "const"):
                _close(item)


def converter(annotation: Any) -> Converter | None:
    """What makes a JSON value into what the annotation asks for; None if nothing is to be done."""
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is Annotated or _name(origin) in _WRAPPERS:
        return converter(args[0])
    if origin is Union or origin is types.UnionType:
        return _union_converter(args)
    base = origin or annotation
    if _is_hashable(base) and base in _FROM_JSON:
        return _FROM_JSON[base]
    if base in (*_LISTS, *_SETS, tuple):
        return _array_converter(base, args)
    if base in _MAPS and args:
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
    if hasattr(base, "model_validate"):
        return _model_converter(base)
    if dataclasses.is_dataclass(base) or typing.is_typeddict(base):
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
        return _of(
            (list, tuple),
            "an array",
            lambda v: tuple(
                item if c is None else fitted(c, item, f"[{n}]")
                for n, (c, item) in enumerate(zip(each, v, strict=False))
            ),
        )
    inner = converter(args[0]) if args else None
    if inner is None:
        return None if make is list else _of((list, tuple), "an array", make)
    return _of(
        (list, tuple),
        "an array",
        lambda v: make(fitted(inner, item, f"[{n}]") for n, item in enumerate(v)),
    )


def _union_converter(args: tuple[Any, ...]) -> Converter | None:
    converters = [converter(arg) for arg in args if arg is not type(None)]
    if all(c is None for c in converters):
        return None

    def convert(value: Any) -> Any:
        if value is None:
            return None
        failures: list[Unfit] = []
        for c in converters:
            if c is None:
                continue
            try:
                return fitted(c, value, "")
            except Unfit as error:
                failures.append(error)
        if None in converters:
            return value
        if len(failures) == 1:
            raise failures[0]
        raise Unfit(" or ".join(dict.fromkeys(str(error) for error in failures)))

    return convert


def _object_converter(cls: Any) -> Converter:
    make = dict if typing.is_typeddict(cls) else cls
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


def _name(origin: Any) -> str:
    return str(getattr(origin, "_name", None) or getattr(origin, "__name__", ""))


def _is_hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True
