"""Supervision of worker processes, and the values that cross to them.

A `Zygote` is the started worker binary; it forks one `Worker` per leg of a cell. Nothing here
blocks, except `Zygote.close()` for as long as a killed process takes to end: both have
`fileno()` for an event loop, and are read and written when that says so.

Objects may be used and dropped on any thread.
"""

from collections.abc import Iterable
from typing import Any, Final, TypeAlias, final

__all__ = [
    "PROTOCOL",
    "CatalogIndex",
    "Failed",
    "Fetch",
    "Finished",
    "Image",
    "Leg",
    "ProtocolError",
    "Suspended",
    "Validator",
    "Worker",
    "WorkerDied",
    "Zygote",
    "decode",
    "encode",
    "encode_noting",
    "input_hint",
    "mcp_index_dts",
    "mcp_names",
    "mcp_server_dts",
    "mcp_signature",
    "monotonic_ns",
    "output_hint",
]

PROTOCOL: Final[str]
"""Name of the protocol; a worker of another build has another one and is refused."""

class WorkerDied(Exception):
    """The process at the other end is gone; the message says how it ended if that is known."""

class ProtocolError(Exception):
    """The process at the other end said something that the protocol never says."""

@final
class Zygote:
    """The process that builds a VM once and forks workers from it.

    It runs with an empty environment, in `/`, in its own session, with `/dev/null` as standard
    streams. It holds no guest code, so only a broken installation makes it misbehave.
    """

    def __new__(cls, path: str, *, stderr: bool = False) -> Zygote:
        """Starts the worker binary.

        Args:
            path: Where the binary is.
            stderr: Whether it inherits this process's standard error, to debug it.

        Raises:
            OSError: It cannot be started; `filename` is the path.
            ValueError: The path contains NUL.
        """

    @property
    def pid(self) -> int:
        """Its process id."""

    @property
    def report(self) -> str | None:
        """What it says of itself once its VM is built, as JSON text; None until then."""

    def fileno(self) -> int:
        """Descriptor of the control socket, or -1 after `close()`. Stays valid until then."""

    def fork(self) -> Worker:
        """Asks for a worker, which is usable at once: what it is sent waits in its socket.

        Raises:
            WorkerDied: The zygote is gone or closed.
            BlockingIOError: It has too many requests to deal with; try later.
            OSError: No descriptors are left.
        """

    def poll(self) -> None:
        """Takes all replies that have come. Call it whenever `fileno()` is readable.

        Raises:
            WorkerDied: The zygote is gone or closed; `fileno()` stays readable.
            ProtocolError: It said something wrong. It is not usable after that.
        """

    def close(self) -> None:
        """Kills and reaps the process; done also when the object is dropped.

        Idempotent. Waits at most a second. Workers live on, but only those whose process was
        known can still be killed.
        """

@final
class Worker:
    """One process that runs one leg of one cell.

    The methods that write (`start`, `resume`, `settle`, `suspend`, `data`, `flush`) return True
    if all bytes are written, and False if `flush()` is to be called when `fileno()` is writable.
    They raise `WorkerDied` only after `kill()` or `close()`: of a worker that died by itself
    `recv()` tells, after what it said last.
    """

    @property
    def pid(self) -> int | None:
        """Its process id, once the zygote has told."""

    @property
    def serial(self) -> int:
        """Number of this worker among those of its zygote, from 1."""

    @property
    def exit_status(self) -> int | None:
        """How it ended, as `os.waitstatus_to_exitcode` takes it, once the zygote has told."""

    @property
    def max_frame(self) -> int:
        """Largest frame to accept, in bytes; 64 MiB at first.

        A decoded value takes up to some fifteen times its frame.
        """

    @max_frame.setter
    def max_frame(self, value: int, /) -> None: ...
    def limit_output(self, max_output: int) -> None:
        """Limits what further turns may carry to the model: output, value, texts.

        Args:
            max_output: Limit of the cell, bytes of JSON. What this takes on the wire at most is
                derived from it; a turn with more is a `ProtocolError`.
        """

    def fileno(self) -> int:
        """Descriptor of the socket, or -1 after `close()`. Stays valid until then."""

    def start(
        self,
        *,
        code: str,
        typescript: bool,
        allow_javascript: bool,
        allow_typescript: bool,
        globals: bytes,
        leg: Leg,
    ) -> bool:
        """Begins a cell.

        Args:
            code: What the model sent; lone surrogates become U+FFFD.
            typescript: Whether the model asked for TypeScript.
            allow_javascript: Whether the configuration allows JavaScript.
            allow_typescript: Whether the configuration allows TypeScript.
            globals: One encoded object that says which optional globals exist.
            leg: Limits and clock.
        """

    def resume(
        self,
        *,
        image: bytes,
        release_yields: bool,
        settlements: list[tuple[int, bool, bytes]],
        leg: Leg,
    ) -> bool:
        """Continues a cell from an image.

        Args:
            image: `Image.bytes`.
            release_yields: Whether promises of `yield_control` resolve now.
            settlements: As for `settle`.
            leg: Limits and clock.
        """

    def settle(self, settlements: list[tuple[int, bool, bytes]]) -> bool:
        """Gives results of nested calls, and lets due timers run.

        Args:
            settlements: `(id, ok, value)` in the order in which the calls ended. `value` is one
                encoded value, of an error an object with `message`.
        """

    def suspend(self) -> bool:
        """Asks for the image of the VM."""

    def data(self, value: bytes) -> bool:
        """Answers a `Fetch` with one encoded value."""

    def flush(self) -> bool:
        """Writes what is left."""

    def recv(self) -> Suspended | Finished | Failed | Image | Fetch | None:
        """Takes the next frame, or None if it has not come completely.

        Call it when `fileno()` is readable, until it returns None.

        Raises:
            WorkerDied: The worker is gone, could not be forked, or was killed or closed here.
            ProtocolError: It said something wrong: kill it.
        """

    def kill(self) -> None:
        """Kills the process, or ends its socket and kills it as soon as it is known.

        Idempotent. The descriptor stays valid until `close()`.
        """

    def close(self) -> None:
        """Kills the process and closes the socket; done also when the object is dropped."""

@final
class Leg:
    """Limits and clock of one leg of a cell. Times are nanoseconds of `monotonic_ns()`."""

    def __new__(
        cls,
        *,
        deadline_ns: int,
        kill_ns: int,
        memory_limit: int,
        max_output: int,
        output_used: int,
        max_snapshot: int,
        truncate_output: bool,
    ) -> Leg:
        """Makes the limits.

        Args:
            deadline_ns: End of the guest's time.
            kill_ns: When the kernel kills the worker.
            memory_limit: Bytes that the VM may allocate.
            max_output: Output and final value of the whole cell, bytes of compact JSON.
            output_used: What of it earlier legs have used.
            max_snapshot: Uncompressed image, bytes.
            truncate_output: Whether output is cut at the budget instead of failing.

        Raises:
            OverflowError: A number is negative or does not fit into 64 bits.
        """

    @property
    def deadline_ns(self) -> int:
        """End of the guest's time."""

    @property
    def kill_ns(self) -> int:
        """When the kernel kills the worker."""

    @property
    def memory_limit(self) -> int:
        """Bytes that the VM may allocate."""

    @property
    def max_output(self) -> int:
        """Output and final value of the whole cell, bytes of compact JSON."""

    @property
    def output_used(self) -> int:
        """What of it earlier legs have used."""

    @property
    def max_snapshot(self) -> int:
        """Uncompressed image, bytes."""

    @property
    def truncate_output(self) -> bool:
        """Whether output is cut at the budget instead of failing."""

@final
class Suspended:
    """A turn that ended with something outstanding."""

    @property
    def requests(self) -> list[tuple[int, str, str, object]]:
        """New nested calls in call order: `(id, op, target, input)`. None of it is checked."""

    @property
    def request_sizes(self) -> list[int]:
        """Bytes of each of `requests`, as it came, and 32 more for each value in it."""

    @property
    def output(self) -> list[dict[str, object]]:
        """New output items."""

    @property
    def output_used(self) -> int:
        """Output budget used by the whole cell so far, bytes."""

    @property
    def timer_ms(self) -> int | None:
        """Milliseconds until the next timer is due."""

    @property
    def yielded(self) -> str | None:
        """The guest called `yield_control` in this turn, with this reason."""

    @property
    def main_settled(self) -> bool:
        """Whether the program itself has ended, and only nested calls are outstanding."""

@final
class Finished:
    """The cell is complete."""

    @property
    def value(self) -> object:
        """The final value."""

    @property
    def output(self) -> list[dict[str, object]]:
        """New output items."""

    @property
    def warnings(self) -> list[str]:
        """What the model should know."""

    @property
    def output_used(self) -> int:
        """Output budget used by the whole cell, bytes."""

    @property
    def reusable(self) -> bool:
        """Whether the worker can serve another cell of the same run."""

@final
class Failed:
    """The cell failed."""

    @property
    def code(self) -> str:
        """Which kind of failure; not checked."""

    @property
    def limit(self) -> str:
        """Which limit fired, or empty; not checked."""

    @property
    def message(self) -> str:
        """What happened and what to do."""

    @property
    def location(self) -> tuple[int, int] | None:
        """One-based line and column in the text that the model sent."""

    @property
    def output(self) -> list[dict[str, object]]:
        """New output items."""

    @property
    def warnings(self) -> list[str]:
        """What the model should know besides."""

@final
class Image:
    """The image of a suspended VM."""

    @property
    def bytes(self) -> bytes:
        """What `Worker.resume` takes."""

    @property
    def uncompressed(self) -> int:
        """Size of it before compression, bytes."""

@final
class Fetch:
    """A question in the middle of a turn; the worker blocks until `Worker.data` answers it."""

    @property
    def kind(self) -> int:
        """What is asked for: 1 catalog, 2 names, 3 API files, 4 one API file, 5 MCP names."""

    @property
    def argument(self) -> str:
        """Detail, perhaps empty."""

def encode(value: object, max_bytes: int = 67108864) -> bytes:
    """Turns a Python value into one wire value.

    Taken as they are: None, bool, int, float (not finite: null), str (lone surrogates: U+FFFD),
    list, tuple, dict (keys as `json.dumps` writes them). In another form: sets (lists, sorted if
    that is possible), enums (their value), pydantic models, dataclasses and mappings (objects),
    dates and times (ISO text), timedelta (seconds), Decimal, Fraction, UUID and paths (text),
    numpy arrays and scalars.

    Args:
        value: The value.
        max_bytes: Most bytes that the result may have.

    Raises:
        TypeError: Something in it has no JSON form. The message has its path and its type, and
            never its value.
        ValueError: It contains itself, is nested deeper than 512 levels, holds an integer of
            more digits than Python converts, or is larger than `max_bytes`.
    """

def encode_noting(value: object, max_bytes: int) -> tuple[bytes, bool]:
    """As `encode`; and whether it held a number that is not finite, which became null."""

def decode(data: bytes) -> object:
    """Turns one wire value into None, bool, int, float, str, list or dict.

    Of members with the same key the last one wins.

    Raises:
        ValueError: `data` is not exactly one value, is nested too deep, or holds an integer of
            more digits than Python converts.
    """

def monotonic_ns() -> int:
    """Nanoseconds of the clock of `Leg`, the same as `time.monotonic_ns()` on Linux."""

_Entry: TypeAlias = tuple[str, str, str | None, str, str, str | None, str | None]
_McpTool: TypeAlias = tuple[str, str, str, str | None, str | None]

def input_hint(schema_json: str, max_chars: int = 300) -> str:
    """A bounded TypeScript-like form of an input schema, required members first."""

def output_hint(schema_json: str, max_chars: int = 850) -> str | None:
    """The whole output schema as TypeScript; None unless it is closed and fits."""

@final
class CatalogIndex:
    """What a catalog needs for hints, search and lookup. Built once, immutable."""

    def __new__(cls, entries: Iterable[_Entry]) -> CatalogIndex:
        """Reads the entries, which the caller has sorted by id.

        Args:
            entries: `(id, name, label, description, source, parameters_json, output_json)`.
        """

    def __len__(self) -> int:
        """How many entries there are."""

    def search(self, query: str, limit: int) -> list[int]:
        """Positions of the entries that fit best, best first; all by id for a blank query."""

    def suggest(self, id_or_name: str) -> list[str]:
        """Up to three ids that are close to an unknown one."""

    def resolve(self, id_or_name: str) -> int | list[str] | None:
        """Position by exact id or unique name; ids if the name is ambiguous; None if unknown."""

    def hints(self) -> list[tuple[str, str | None]]:
        """`(input, output)` hints of all entries; made at the first call."""

    def safe_names(self, reserved: list[str]) -> list[tuple[str, int | None, list[str]]]:
        """`(identifier, position, [])`, or `(identifier, None, ids)` where several have it."""

    def quick_index(self, budget: int) -> tuple[str, int, int]:
        """Lines of native tools within `budget` characters; how many are shown and left out."""

@final
class Validator:
    """A compiled schema. References to files or the network are never followed."""

    def __new__(cls, schema_json: str) -> Validator:
        """Compiles a declared output.

        Raises:
            ValueError: The schema is invalid.
        """

    @staticmethod
    def for_input(schema_json: str) -> Validator:
        """Compiles an input schema; one that makes no sense lets everything pass."""

    def check_input(self, value: object) -> Any:
        """Gives the input, with JSON texts read where the schema wants arrays or objects.

        Raises:
            ValueError: The text names the field and what was expected.
        """

    def check_output(self, value: object) -> None:
        """Checks a result.

        Raises:
            ValueError: It does not fit; the text never holds the value.
        """

def mcp_names(
    servers: list[tuple[str, list[str]]],
) -> list[tuple[str, str, list[tuple[str, str]]]]:
    """`(key, alias, [(key, alias) of each tool])` of `(server, [tool names])`."""

def mcp_index_dts(servers: list[tuple[str, str, list[str], str | None]]) -> str:
    """Text of `mcp/index.d.ts`; servers as `(key, name, tool keys, why unavailable)`."""

def mcp_server_dts(
    key: str,
    name: str,
    tools: list[_McpTool],
    *,
    resources: bool = False,
    prompts: bool = False,
    instructions: str = "",
    max_bytes: int = 262144,
) -> str:
    """Text of `mcp/<server>.d.ts`; tools as `(key, name, description, input, output)`."""

def mcp_signature(tool: _McpTool) -> str:
    """The declaration of one tool."""
