"""Frozen records: what `@dataclass(frozen=True, slots=True)` makes, at a tenth of its cost.

A dataclass compiles each of its methods when it is defined. For the records of this package that
was more than half of the time that importing it takes; these share their methods. `dataclasses`
knows them: `fields`, `replace`, `asdict` and `is_dataclass` work.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from dataclasses import dataclass as record
    from dataclasses import field
else:

    def record(*, frozen: bool, slots: bool, kw_only: bool = False, eq: bool = True) -> Any:
        """Makes a record of a class, as the decorator `dataclass` with the same arguments."""
        if not (frozen and slots):
            raise TypeError("records are frozen and have slots")
        return lambda cls: _make(cls, kw_only=kw_only, eq=eq)

    def field(**settings: Any) -> Any:
        """A member with `default`, `default_factory`, `init` or `repr`, as in `dataclasses`."""
        return _Member(**settings)


__all__ = ["field", "record"]

_MISSING: Any = object()


class _Member:
    __slots__ = ("default", "factory", "init", "kw_only", "name", "put", "shown")

    def __init__(
        self,
        *,
        default: Any = _MISSING,
        default_factory: Callable[[], Any] | None = None,
        init: bool = True,
        repr: bool = True,  # noqa: A002 -- the name that dataclasses use
    ) -> None:
        self.default = default
        self.factory = default_factory
        self.init = init
        self.shown = repr
        self.name = ""
        self.kw_only = False
        self.put: Callable[[Any, Any], None]


class _Twin:
    """An attribute of the dataclass that a record could have been, which is made when asked for."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, cls: Any) -> Any:
        import dataclasses
        import inspect

        members = []
        for m in cls._record_members:
            given: dict[str, Any] = {
                "init": m.init,
                "repr": m.shown,
                "kw_only": m.kw_only,
            }
            if m.factory is not None:
                given["default_factory"] = m.factory
            elif m.default is not _MISSING:
                given["default"] = m.default
            members.append((m.name, cls.__annotations__[m.name], dataclasses.field(**given)))
        twin = dataclasses.make_dataclass(cls.__name__, members, frozen=True)
        if self.name == "__signature__":
            return inspect.signature(twin)
        return getattr(twin, self.name)


def _make(cls: type, *, kw_only: bool, eq: bool) -> type:
    namespace = dict(vars(cls))
    members = []
    for name in cls.__annotations__:
        given = namespace.pop(name, _MISSING)
        member = given if isinstance(given, _Member) else _Member(default=given)
        member.name = name
        member.kw_only = kw_only
        members.append(member)
    for name in ("__dict__", "__weakref__"):
        namespace.pop(name, None)
    namespace.update(
        __slots__=tuple(m.name for m in members),
        __match_args__=() if kw_only else tuple(m.name for m in members if m.init),
        __dataclass_fields__=_Twin("__dataclass_fields__"),
        __dataclass_params__=_Twin("__dataclass_params__"),
        __signature__=_Twin("__signature__"),
        _record_members=tuple(members),
        __init__=_init,
        __repr__=_repr,
        __setattr__=_refuse_change,
        __delattr__=_refuse_change,
        __getstate__=_state,
        __setstate__=_set_state,
    )
    if eq:
        namespace.update(__eq__=_equals, __hash__=_hash)
    made = type(cls)(cls.__name__, cls.__bases__, namespace)
    for member in members:
        member.put = vars(made)[member.name].__set__
    return made


def _init(self: Any, /, *args: Any, **given: Any) -> None:
    cls = type(self)
    if args:
        names = cls.__match_args__
        if len(args) > len(names):
            what = f"{len(names)} positional arguments" if names else "keyword arguments only"
            raise TypeError(f"{cls.__name__}() takes {what}, {len(args)} were given")
        for name, value in zip(names, args, strict=False):
            if name in given:
                raise TypeError(f"{cls.__name__}() got {name!r} twice")
            given[name] = value
    missing = []
    for member in cls._record_members:
        name = member.name
        if member.init and name in given:
            member.put(self, given.pop(name))
        elif member.factory is not None:
            member.put(self, member.factory())
        elif member.default is not _MISSING:
            member.put(self, member.default)
        elif member.init:
            missing.append(name)
    if given:
        raise TypeError(f"{cls.__name__}() has no argument {next(iter(given))!r}")
    if missing:
        raise TypeError(f"{cls.__name__}() needs {', '.join(map(repr, missing))}")
    after = getattr(cls, "__post_init__", None)
    if after is not None:
        after(self)


def _state(self: Any) -> list[Any]:
    return [getattr(self, m.name) for m in self._record_members]


def _set_state(self: Any, state: list[Any]) -> None:
    for member, value in zip(self._record_members, state, strict=True):
        member.put(self, value)


def _repr(self: Any) -> str:
    shown = (f"{m.name}={getattr(self, m.name)!r}" for m in self._record_members if m.shown)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _equals(self: Any, other: object) -> Any:
    if type(other) is not type(self):
        return NotImplemented
    return _state(self) == _state(other)


def _hash(self: Any) -> int:
    return hash(tuple(_state(self)))


def _refuse_change(self: Any, name: str, *_: Any) -> None:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"cannot change {name!r} of a {type(self).__name__}")
