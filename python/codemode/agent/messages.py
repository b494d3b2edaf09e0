"""What passes between the loop and a provider."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

    from ..debug import Debug
    from ..surface import ModelTool
    from ..tools import Tool


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A call that the model made.

    Attributes:
        id: The provider's id of the call.
        name: Tool name.
        input: Arguments; text where the model wrote something that is no JSON.
    """

    id: str
    name: str
    input: Any

    def to_dict(self) -> dict[str, Any]:
        """JSON shape, as in the transcript."""
        return {"id": self.id, "name": self.name, "input": self.input}


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one request. `input` counts neither cache reads nor cache writes."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """US dollars per million tokens."""

    input: float
    output: float
    cache_read: float = 0.0
    cache_write: float = 0.0

    def of(self, usage: Usage) -> float:
        """What `usage` cost, in US dollars."""
        return (
            usage.input * self.input
            + usage.output * self.output
            + usage.cache_read * self.cache_read
            + usage.cache_write * self.cache_write
        ) / 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One whole answer of the model.

    Attributes:
        text: What it said.
        calls: Tools it wants to be called.
        usage: None if the provider did not say.
        native: The answer in the provider's own form, sent back unchanged in later requests, so
            that signed thoughts and the like survive; None if the neutral form says it all.
    """

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    usage: Usage | None = None
    native: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """What the loop wants to ask.

    Attributes:
        system: System prompt, may be empty.
        entries: The transcript's entries, oldest first (see `Transcript`).
        tools: What the model may see.
    """

    system: str
    entries: Sequence[Mapping[str, Any]]
    tools: Sequence[ModelTool | Tool] = field(default=())


class Provider(Protocol):
    """A model behind some API."""

    @property
    def form(self) -> str:
        """Name of the wire form; `native` of a reply is only sent back in the same form."""
        ...

    @property
    def name(self) -> str:
        """Provider id, the first part of `provider/model` in the table of models."""
        ...

    @property
    def model(self) -> str:
        """Model id."""
        ...

    def payload(self, request: ModelRequest) -> dict[str, Any]:
        """The request body in the provider's form; the loop guards it before it is sent."""
        ...

    def stream(self, payload: Mapping[str, Any]) -> AsyncIterator[str | Reply]:
        """Sends a request; gives pieces of text as they come and the whole `Reply` at last."""
        ...


def log_event(debug: Debug, number: int, event: Any, kind: str) -> None:
    """Logs an event of a provider's stream as far as it was asked for (tel.4)."""
    if debug.sse:
        whole = debug.sse == "peek"
        debug.log_sse(number, event.model_dump(mode="json") if whole else {"type": kind})


def sdk_missing(error: ModuleNotFoundError) -> ModuleNotFoundError:
    """The same error with what to do about it."""
    message = f'{error}; the provider needs its SDK: pip install "codemode[agent]"'
    return ModuleNotFoundError(message, name=error.name)
