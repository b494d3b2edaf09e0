"""What a worker that means harm may say: strategies of hypothesis."""

from __future__ import annotations

import struct

from hypothesis import strategies as st
from tests.fakes import frames
from tests.fakes.impostor import Lie

from codemode._engine import encode

# Frames that an honest worker says in a leg, at most.
_FRAMES = 5

_U32 = st.one_of(
    st.sampled_from(
        [0, 1, 2, 255, 256, 4096, 4097, 1 << 19, (1 << 31) - 1, 1 << 31, (1 << 32) - 1]
    ),
    st.integers(0, (1 << 32) - 1),
)
_U64 = st.one_of(
    _U32, st.sampled_from([(1 << 53) - 1, 1 << 53, (1 << 63) - 1, 1 << 63, (1 << 64) - 1])
)
_BYTES = st.binary(max_size=60)
_TEXT = st.one_of(
    st.sampled_from(
        [
            *(
                "",
                "call",
                "callValue",
                "search",
                "describe",
                "mcp",
                "echo",
                "nothing",
                "constructor",
            ),
            *(
                "timeout",
                "internal_error",
                "memory",
                "time",
                "__proto__",
                "\0",
                "x" * 70_000,
                "é" * 99,
            ),
        ]
    ),
    st.text(max_size=20),
)


def _text(text: str) -> bytes:
    return frames.blob(text.encode("utf-8", "replace"))


_HONEST_VALUES = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.floats(allow_nan=False), _TEXT
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(_TEXT, inner, max_size=4)),
    max_leaves=8,
).map(encode)

# Values that say something wrong of themselves, or too much.
_BAD_VALUES = st.one_of(
    _BYTES,
    st.builds(lambda n, rest: b"\7" + struct.pack("<I", n) + rest, _U32, _BYTES),
    st.builds(lambda n, rest: b"\x08" + struct.pack("<I", n) + rest, _U32, _BYTES),
    st.builds(
        lambda tag, n, rest: tag + frames.varint(n) + rest,
        st.sampled_from([b"\4", b"\6"]),
        _U64,
        _BYTES,
    ),
    st.builds(lambda n: b"\3" + frames.varint(n), _U64),
    st.binary(min_size=8, max_size=8).map(lambda double: b"\5" + double),
    st.sampled_from([b"\x00\x00\x00\x00\x00\x00\xf8\x7f", b"\x01\x00\x00\x00\x00\x00\xf0\xff"]).map(
        lambda double: b"\5" + double
    ),
    st.sampled_from([b"\6\2\xc3\x28", b"\6\3\xed\xa0\x80", b"\6\1\xff", b"\4\1-", b"\4\2\x30\x78"]),
    st.integers(500, 3000).map(lambda depth: b"\7\1\0\0\0" * depth + b"\0"),
    st.integers(500, 3000).map(lambda depth: b"\x08\1\0\0\0\1a" * depth + b"\0"),
    st.just(b"\xff" * 12),
)
_VALUES = st.one_of(_HONEST_VALUES, _BAD_VALUES)
_OBJECTS = st.one_of(
    st.sampled_from([{"type": "text", "text": "x"}, {"type": "json", "value": 1}, {}]).map(encode),
    _VALUES,
)


def _list(items: list[bytes], count: int | None) -> bytes:
    """A list of items, with a count that may be false."""
    return struct.pack("<I", len(items) if count is None else count) + b"".join(items)


def _lists(item: st.SearchStrategy[bytes]) -> st.SearchStrategy[bytes]:
    return st.builds(_list, st.lists(item, max_size=4), st.one_of(st.none(), st.none(), _U32))


_BLOBS = _VALUES.map(frames.blob)
_FLAG = st.sampled_from([b"\0", b"\1", b"\1", b"\2", b"\xff"])
_NUMBER = _U64.map(frames.varint)
_TEXTS = _TEXT.map(_text)
_REQUEST = st.builds(
    lambda number, op, target, value: number + op + target + value,
    st.one_of(st.integers(0, 6).map(frames.varint), _NUMBER),
    _TEXTS,
    _TEXTS,
    _BLOBS,
)
_OPTION = st.one_of(st.just(b"\0"), st.just(b"\0"), st.builds(lambda f, n: f + n, _FLAG, _NUMBER))
_REASON = st.one_of(st.just(b"\0"), st.just(b"\0"), st.builds(lambda f, t: f + t, _FLAG, _TEXTS))
_OUTPUT = _lists(_OBJECTS.map(frames.blob))
_WARNINGS = _lists(_TEXTS)


def _body(kind: int, *parts: st.SearchStrategy[bytes]) -> st.SearchStrategy[bytes]:
    return st.tuples(*parts).map(lambda given: frames.frame(kind, b"".join(given)))


_FAILURE = st.one_of(
    st.sampled_from(
        [("timeout", "time"), ("internal_error", ""), ("internal_error", "memory")]
    ).map(lambda pair: _text(pair[0]) + _text(pair[1])),
    st.builds(lambda code, limit: code + limit, _TEXTS, _TEXTS),
)

# Whole frames of each kind, right and wrong in any part.
INVENTED = st.one_of(
    _body(0x81, _lists(_REQUEST), _OUTPUT, _NUMBER, _OPTION, _REASON, _FLAG),
    _body(0x82, _BLOBS, _OUTPUT, _WARNINGS, _NUMBER, _FLAG),
    _body(0x83, _FAILURE, _TEXTS, _OPTION, _OUTPUT, _WARNINGS),
    _body(0x84, _NUMBER, st.one_of(_BYTES.map(frames.blob), _BLOBS)),
    _body(0x86, _BYTES),
    _body(0x85, st.integers(0, 7).map(lambda kind: bytes([kind])), _TEXTS),
    st.builds(frames.frame, st.integers(0, 255), _BYTES),
    st.builds(lambda length, rest: struct.pack("<I", length) + rest, _U32, _BYTES),
)

_AT = st.integers(0, _FRAMES - 1)
_EDITS = st.lists(st.tuples(st.integers(0, 400), st.integers(0, 255)), min_size=1, max_size=4)

# Lies after which the host has an answer at once, or soon.
_PROMPT = st.one_of(
    st.builds(lambda at, edits: Lie(at, "flip", edits=tuple(edits)), _AT, _EDITS),
    st.builds(lambda at, kind: Lie(at, kind), _AT, st.sampled_from(["twice", "swap"])),
    st.builds(
        lambda at, kind, data: Lie(at, kind, data),
        _AT,
        st.sampled_from(["instead", "instead", "before", "after"]),
        INVENTED,
    ),
    st.builds(lambda at, data: Lie(at, "stretch", data), _AT, st.binary(min_size=1, max_size=80)),
    st.builds(lambda at, number: Lie(at, "end", number=number), _AT, st.integers(0, 300)),
    st.builds(lambda at, data: Lie(at, "flood", data), _AT, st.one_of(st.just(b""), INVENTED)),
)
# Those after which it must give up waiting.
_SILENT = st.one_of(
    st.builds(lambda at: Lie(at, "drop"), _AT),
    st.builds(lambda at, number: Lie(at, "length", number=number), _AT, _U32),
    st.builds(lambda at, number: Lie(at, "cut", number=number), _AT, st.integers(0, 300)),
    st.builds(lambda at, number: Lie(at, "late", number=number), _AT, st.integers(1, 200)),
)
LEG = st.lists(st.one_of(*[_PROMPT] * 6, _SILENT), max_size=3)
LEGS = st.lists(LEG, min_size=1, max_size=3)
