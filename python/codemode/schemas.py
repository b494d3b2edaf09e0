"""Python annotations as JSON Schema."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import pathlib
import types
import typing
import uuid
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Annotated, Any, Literal, Union, get_args, get_origin

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
LISTS = (list, Sequence, Iterable)
SETS = (set, frozenset, AbstractSet)
MAPS = (dict, Mapping)
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
        scalar = _SCALARS.get(annotation) if is_hashable(annotation) else None
        if scalar is not None:
            return dict(scalar)
        origin, args = get_origin(annotation), get_args(annotation)
        if origin is Annotated:
            schema = self.read(args[0])
            for note in args[1:]:
                annotate(schema, note)
            return schema
        if (named := supertype(annotation)) is not None:
            return self.read(named)
        if is_wrapper(origin):
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
        if base in LISTS or base in SETS:
            # Of a set too: an item that is given twice is in it once.
            return {"type": "array", "items": self.read(args[0] if args else Any)}
        if base is tuple:
            return self._tuple(args)
        if base in MAPS:
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
        return self._positions([] if args == ((),) else list(args))

    def _positions(self, annotations: list[Any], optional: int = 0) -> dict[str, Any]:
        items = [self.read(annotation) for annotation in annotations]
        return {
            "type": "array",
            "prefixItems": items,
            "items": False,
            "minItems": len(items) - optional,
            "maxItems": len(items),
        }

    def _class(self, cls: type) -> dict[str, Any]:
        if issubclass(cls, enum.Enum):
            return {"enum": [member.value for member in cls]}
        if hasattr(cls, "model_json_schema"):
            return self._pydantic(cls)
        is_tuple = is_named_tuple(cls)
        if not (is_tuple or dataclasses.is_dataclass(cls) or is_typed_dict(cls)):
            raise SchemaError(f"{cls.__name__} has no JSON form")
        name = cls.__name__
        if cls in self._stack:
            self._recursive.add(cls)
            return {"$ref": f"#/$defs/{name}"}
        self._stack.append(cls)
        schema = self._named_tuple(cls) if is_tuple else self._members(cls)
        self._stack.pop()
        if cls in self._recursive:
            self._define(name, schema)
            return {"$ref": f"#/$defs/{name}"}
        return schema

    def _named_tuple(self, cls: Any) -> dict[str, Any]:
        hints = typing.get_type_hints(cls, include_extras=True)
        optional = 0 if self._output else len(cls._field_defaults)
        return self._positions([hints.get(name, Any) for name in cls._fields], optional)

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
            required = [name for name in names if _is_required(hints[name], name in keys)]
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


def annotate(schema: dict[str, Any], note: Any) -> None:
    """Adds what a note in `Annotated` says: a text, or limits as pydantic and others write them.

    Limits are read by their names, so that they may be anyone's: those of `annotated_types`,
    `msgspec.Meta`, the parts of a pydantic `Field`.
    """
    text = note
    for name in ("description", "documentation"):
        text = text if isinstance(text, str) else getattr(note, name, None)
    if isinstance(text, str) and "$ref" not in schema:
        schema["description"] = text
    if isinstance(note, (str, type)):
        return
    kinds = schema.get("type", ())
    sized = next((word for kind, word in _SIZED.items() if kind in kinds), None)
    for name, keyword in _LIMITS.items():
        limit = getattr(note, name, None)
        if isinstance(limit, (int, float)) and not isinstance(limit, bool):
            schema[keyword] = limit
    for name, word in (("min_length", "min"), ("max_length", "max")):
        limit = getattr(note, name, None)
        if isinstance(limit, int) and sized is not None:
            schema[word + sized] = limit
    pattern = getattr(note, "pattern", None)
    pattern = getattr(pattern, "pattern", pattern)  # it may be compiled
    if isinstance(pattern, str):
        schema["pattern"] = pattern
    metadata = getattr(note, "metadata", ())
    for part in metadata if isinstance(metadata, (list, tuple)) else ():
        annotate(schema, part)


_LIMITS = {
    "ge": "minimum",
    "le": "maximum",
    "gt": "exclusiveMinimum",
    "lt": "exclusiveMaximum",
    "multiple_of": "multipleOf",
}
_SIZED = {"string": "Length", "array": "Items", "object": "Properties"}


def _is_required(hint: Any, otherwise: bool) -> bool:
    """Of a TypedDict, which cannot tell itself when its annotations are text."""
    while get_origin(hint) is not None:
        name = _name(get_origin(hint))
        if name in ("Required", "NotRequired"):
            return name == "Required"
        if get_origin(hint) is not Annotated and name != "ReadOnly":
            break
        hint = get_args(hint)[0]
    return otherwise


def is_wrapper(origin: Any) -> bool:
    """Whether it only says something of a member: `Required[…]` and the like."""
    return _name(origin) in _WRAPPERS


def _name(origin: Any) -> str:
    return str(getattr(origin, "_name", None) or getattr(origin, "__name__", ""))


def supertype(annotation: Any) -> Any:
    """What a `NewType` or a `type` statement stands for, else None."""
    if type(annotation).__name__ == "TypeAliasType":
        return annotation.__value__
    return getattr(annotation, "__supertype__", None)


def is_typed_dict(cls: Any) -> bool:
    """Whether it is a class made by `TypedDict`, also that of `typing_extensions`."""
    return typing.is_typeddict(cls) or hasattr(cls, "__required_keys__")


def is_named_tuple(cls: Any) -> bool:
    """Whether it is a class made by `NamedTuple`."""
    return issubclass(cls, tuple) and hasattr(cls, "_fields") and hasattr(cls, "_field_defaults")


def is_hashable(value: Any) -> bool:
    """Whether it can be a key."""
    try:
        hash(value)
    except TypeError:
        return False
    return True
