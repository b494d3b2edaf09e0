"""Frames as a worker writes and reads them, apart from the product's own code."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from codemode._engine import encode


def varint(n: int) -> bytes:
    out = bytearray()
    while n >= 0x80:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    out.append(n)
    return bytes(out)


def blob(data: bytes | str) -> bytes:
    data = data.encode() if isinstance(data, str) else data
    return varint(len(data)) + data


def items(parts: list[bytes]) -> bytes:
    return struct.pack("<I", len(parts)) + b"".join(parts)


def values(objects: list[object]) -> bytes:
    return items([blob(encode(o)) for o in objects])


def option(body: bytes | None) -> bytes:
    return b"\0" if body is None else b"\1" + body


def frame(kind: int, body: bytes = b"") -> bytes:
    return struct.pack("<IB", len(body) + 1, kind) + body


def suspended(
    requests: list[tuple[int, str, str, object]] | None = None,
    output: list[object] | None = None,
    *,
    used: int = 0,
    timer_ms: int | None = None,
    yielded: str | None = None,
    main_settled: bool = False,
) -> bytes:
    calls = [
        varint(i) + blob(op) + blob(target) + blob(encode(value))
        for i, op, target, value in requests or []
    ]
    return frame(
        0x81,
        items(calls)
        + values(output or [])
        + varint(used)
        + option(None if timer_ms is None else varint(timer_ms))
        + option(None if yielded is None else blob(yielded))
        + bytes([main_settled]),
    )


def finished(
    value: object, output: list[object] | None = None, warnings: list[str] | None = None
) -> bytes:
    texts = items([blob(w) for w in warnings or []])
    return frame(0x82, blob(encode(value)) + values(output or []) + texts + varint(7) + b"\0")


def failed(code: str, limit: str, message: str, location: tuple[int, int] | None = None) -> bytes:
    where = None if location is None else varint(location[0]) + varint(location[1])
    texts = blob(code) + blob(limit) + blob(message)
    return frame(0x83, texts + option(where) + values([]) + items([blob("careful")]))


def image(data: bytes, uncompressed: int) -> bytes:
    return frame(0x84, varint(uncompressed) + blob(data))


def image_part(data: bytes) -> bytes:
    return frame(0x86, data)


def fetch(kind: int, argument: str) -> bytes:
    return frame(0x85, bytes([kind]) + blob(argument))


@dataclass
class Reader:
    """Reads the body of a frame that the host sent."""

    data: bytes
    at: int = 0

    def take(self, n: int) -> bytes:
        out = self.data[self.at : self.at + n]
        assert len(out) == n
        self.at += n
        return out

    def byte(self) -> int:
        return self.take(1)[0]

    def varint(self) -> int:
        value = shift = 0
        while True:
            b = self.byte()
            value |= (b & 0x7F) << shift
            shift += 7
            if b < 0x80:
                return value

    def blob(self) -> bytes:
        return self.take(self.varint())

    def leg(self) -> list[int]:
        return [self.varint() for _ in range(6)] + [self.byte()]

    def settlements(self) -> list[tuple[int, int, bytes]]:
        (n,) = struct.unpack("<I", self.take(4))
        return [(self.varint(), self.byte(), self.blob()) for _ in range(n)]

    def done(self) -> bool:
        return self.at == len(self.data)
