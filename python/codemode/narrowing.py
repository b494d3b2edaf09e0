"""Results as the return annotations of their functions."""

from __future__ import annotations

import dataclasses
import types
from typing import TYPE_CHECKING, Annotated, Any, Union, get_args, get_origin

from .schemas import LISTS

if TYPE_CHECKING:
    from .conversion import Converter


def narrower(annotation: Any) -> Converter | None:
    """What makes a result one of the annotated classes; None if it cannot be of another.

    An instance of a subclass is still what the function says that it returns: what the subclass
    adds does not belong to the declared form.
    """
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return narrower(args[0])
    if origin is Union or origin is types.UnionType:
        return _narrower_of_union([arg for arg in args if arg is not type(None)])
    base = origin or annotation
    if base in LISTS or (base is tuple and len(args) == 2 and args[1] is Ellipsis):
        inner = narrower(args[0]) if args else None
        if inner is None:
            return None
        return lambda v: [inner(item) for item in v] if isinstance(v, (list, tuple)) else v
    if not isinstance(base, type):
        return None
    if hasattr(base, "__pydantic_serializer__") and hasattr(base, "model_json_schema"):
        write = base.__pydantic_serializer__.to_python
        return lambda v: write(v, mode="json", by_alias=True) if _is_below(v, base) else v
    if dataclasses.is_dataclass(base):
        names = [f.name for f in dataclasses.fields(base)]
        return lambda v: {name: getattr(v, name) for name in names} if _is_below(v, base) else v
    return None


def _narrower_of_union(members: list[Any]) -> Converter | None:
    narrowers = [inner for inner in map(narrower, members) if inner is not None]
    if not narrowers:
        return None

    def narrow(value: Any) -> Any:
        if any(type(value) is member for member in members):
            return value
        for inner in narrowers:
            if (narrowed := inner(value)) is not value:
                return narrowed
        return value

    return narrow


def _is_below(value: Any, cls: type) -> bool:
    return isinstance(value, cls) and type(value) is not cls
