"""Reads a function's signature and docstring for `@tool`. Loaded only where that is used."""

from __future__ import annotations

import functools
import inspect
import re
import typing
from dataclasses import dataclass
from typing import Any

from .conversion import Converter, Unfit, converter, fitted
from .narrowing import narrower
from .schemas import SchemaError, Schemas, annotate
from .tools import ToolContext, ToolResult, WrongInput

if typing.TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

_SECTIONS = re.compile(
    r"^(Args|Arguments|Parameters|Returns?|Raises|Yields?|Examples?|Notes?|Attributes|See Also"
    r"|Warnings?|References|Todo):\s*$"
)
_ENTRY = re.compile(r"^\*{0,2}(\w+)\s*(?:\([^)]*\))?\s*:\s*(.*)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """What `@tool` needs to know of a function.

    Attributes:
        name: Its name.
        description: Docstring without its sections.
        parameters: JSON Schema of the input object, closed unless the function takes `**kwargs`.
        output_schema: JSON Schema of what it returns, if the annotation says all of it.
        execute: `execute(input, ctx)`.
    """

    name: str
    description: str
    parameters: dict[str, Any]
    output_schema: dict[str, Any] | None
    execute: Callable[[Any, ToolContext], Any]


def read_signature(
    function: Callable[..., Any], names: Mapping[str, Any], name: str | None = None
) -> Signature:
    """Reads a function.

    Args:
        function: Async or plain.
        names: What annotations may refer to besides the function's globals.
        name: Instead of the function's own.

    Raises:
        TypeError: A parameter has no JSON form; names it. Or what is given is no function that
            can be a tool.
    """
    inner = function
    while isinstance(inner, functools.partial):
        inner = inner.func
    name = name or str(getattr(inner, "__name__", type(inner).__name__))
    if name == "<lambda>":
        raise TypeError("a lambda has no name: give one, tool(name=...)(lambda ...)")
    if inspect.isgeneratorfunction(inner) or inspect.isasyncgenfunction(inner):
        raise TypeError(f"{name} is a generator, which has no result: return a list instead")
    description, documented = _read_docstring(inspect.getdoc(inner) or "")
    hints = _hints(inner, name, names)
    schemas = Schemas()
    properties: dict[str, Any] = {}
    required: list[str] = []
    converters: dict[str, Converter] = {}
    defaults: dict[str, Callable[[], Any]] = {}
    context: str | None = None
    is_open = False
    for parameter in inspect.signature(function).parameters.values():
        annotation = hints.get(parameter.name, Any)
        if annotation is ToolContext:
            context = parameter.name
            continue
        if parameter.kind is parameter.VAR_KEYWORD:
            is_open = True
            continue
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.VAR_POSITIONAL):
            raise TypeError(
                f"{name}: parameter {parameter.name} cannot be given by name; tools get one object"
            )
        try:
            schema = schemas.read(annotation)
            convert = converter(annotation)
        except SchemaError as error:
            raise TypeError(f"{name}: parameter {parameter.name}: {error}") from None
        if parameter.name in documented and "$ref" not in schema:
            schema.setdefault("description", documented[parameter.name])
        default = parameter.default
        if hasattr(default, "is_required") and hasattr(default, "get_default"):
            # A pydantic `Field`: what it says of the parameter, and how to make the default.
            annotate(schema, default)
            field, default = default, parameter.empty
            if not field.is_required():
                defaults[parameter.name] = make = functools.partial(
                    field.get_default, call_default_factory=True
                )
                default = None if field.default_factory is not None else make()
        if default is parameter.empty:
            required.append(parameter.name)
        elif isinstance(default, (str, int, float, bool)):
            schema["default"] = getattr(default, "value", default)
        properties[parameter.name] = schema
        if convert is not None:
            converters[parameter.name] = convert
    parameters: dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        parameters["required"] = required
    parameters["additionalProperties"] = is_open
    output = _output_schema(hints.get("return", Any))
    narrow = narrower(hints["return"]) if output is not None else None
    return Signature(
        name=name,
        description=description,
        parameters=schemas.with_definitions(parameters),
        output_schema=output,
        execute=_caller(function, converters, defaults, context, narrow),
    )


def _output_schema(annotation: Any) -> dict[str, Any] | None:
    if annotation is ToolResult:
        return None
    schemas = Schemas(output=True)
    try:
        return schemas.with_definitions(schemas.read(annotation))
    except SchemaError:
        return None


def _caller(
    function: Callable[..., Any],
    converters: Mapping[str, Converter],
    defaults: Mapping[str, Callable[[], Any]],
    context: str | None,
    narrow: Converter | None,
) -> Callable[[Any, ToolContext], Any]:
    def execute(given: Mapping[str, Any], ctx: ToolContext) -> Any:
        arguments = dict(given)
        for name, convert in converters.items():
            if name in arguments:
                try:
                    arguments[name] = fitted(convert, arguments[name], name)
                except Unfit as error:
                    raise WrongInput(f"{error.path}: {error}") from error
        for name, make in defaults.items():
            if name not in arguments:
                arguments[name] = make()
        if context is not None:
            arguments[context] = ctx
        result = function(**arguments)
        if narrow is None:
            return result
        return _narrowed(narrow, result) if inspect.isawaitable(result) else narrow(result)

    return execute


async def _narrowed(narrow: Converter, result: Awaitable[Any]) -> Any:
    return narrow(await result)


def _hints(function: Callable[..., Any], name: str, names: Mapping[str, Any]) -> dict[str, Any]:
    target = function
    if not inspect.isroutine(function):
        target = type(function).__call__  # an object that can be called
    try:
        return typing.get_type_hints(target, localns=dict(names), include_extras=True)
    except NameError as error:
        raise TypeError(f"{name}: an annotation is not defined where @tool is used: {error}") from (
            None
        )


def _read_docstring(text: str) -> tuple[str, dict[str, str]]:
    lines = text.splitlines()
    head: list[str] = []
    documented: dict[str, str] = {}
    section, entry, indent = "", "", 0
    for line in lines:
        match = _SECTIONS.match(line)
        if match:
            section, entry = match[1], ""
        elif not section:
            head.append(line)
        elif section in ("Args", "Arguments", "Parameters") and line.strip():
            depth = len(line) - len(line.lstrip())
            found = _ENTRY.match(line.strip())
            if found and (not entry or depth <= indent):
                entry, indent = found[1], depth
                documented[entry] = found[2].strip()
            elif entry:
                documented[entry] = f"{documented[entry]} {line.strip()}".strip()
    return "\n".join(head).strip(), documented
