"""Images as someone writes them who knows the format and can make the checksum fit."""

from __future__ import annotations

import struct
from dataclasses import dataclass, replace

import xxhash

PAGE = 4096
# Magic, format, build, template, size of the arena; counts and checksum follow.
_SAME = 40
_HEAD = 72


@dataclass(frozen=True)
class Parts:
    """An image, taken apart.

    Attributes:
        same: The part of the head that all images of one template have.
        numbers: Of the pages.
        tables: What the worker keeps beside the VM.
        pages: Contents, combined by xor with the template where that has the page.
    """

    same: bytes
    numbers: tuple[int, ...]
    tables: bytes
    pages: bytes

    def image(self, counts: tuple[int, int, int] | None = None) -> bytes:
        """The image, with a checksum that fits; perhaps with false counts."""
        raw = struct.pack(f"<{len(self.numbers)}I", *self.numbers) + self.tables + self.pages
        return seal(
            self.same, counts or (len(self.numbers), len(self.tables), len(raw)), literal(raw)
        )

    def with_byte(self, part: str, at: int, value: int) -> Parts:
        """One byte of `tables` or `pages` combined by xor with `value`."""
        data = bytearray(getattr(self, part))
        data[at % len(data)] ^= value
        return replace(self, **{part: bytes(data)})


def seal(same: bytes, counts: tuple[int, int, int], packed: bytes) -> bytes:
    """Head and body: pages, bytes of tables, bytes before compression, and what was compressed."""
    words = [count % (1 << 64) for count in counts]
    return same + struct.pack("<4Q", *words, xxhash.xxh3_64_intdigest(packed)) + packed


def parts(image: bytes) -> Parts:
    """Takes an image apart."""
    count, tables, raw_len, checksum = struct.unpack_from("<4Q", image, _SAME)
    packed = image[_HEAD:]
    assert checksum == xxhash.xxh3_64_intdigest(packed)
    raw = unpack(packed)
    assert len(raw) == raw_len
    at = count * 4
    numbers = struct.unpack_from(f"<{count}I", raw)
    return Parts(image[:_SAME], numbers, raw[at : at + tables], raw[at + tables :])


def literal(raw: bytes) -> bytes:
    """An LZ4 block that says it all literally."""
    n = len(raw)
    if n < 15:
        return bytes([n << 4]) + raw
    more = n - 15
    return b"\xf0" + b"\xff" * (more // 255) + bytes([more % 255]) + raw


def unpack(block: bytes) -> bytes:
    """What an LZ4 block says."""
    out = bytearray()
    at = 0

    def length(start: int) -> int:
        nonlocal at
        if start == 15:
            while True:
                byte = block[at]
                at += 1
                start += byte
                if byte < 255:
                    break
        return start

    while at < len(block):
        token = block[at]
        at += 1
        n = length(token >> 4)
        out += block[at : at + n]
        at += n
        if at >= len(block):
            break
        back = block[at] | block[at + 1] << 8
        at += 2
        n = length(token & 15) + 4
        while n > 0:
            piece = out[-back:][:n] if back > n else out[-back:]
            out += piece
            n -= len(piece)
    return bytes(out)
