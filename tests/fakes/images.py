"""Images as someone writes them who knows the format and can make the checksum fit."""

from __future__ import annotations

import struct
from dataclasses import dataclass, replace

import xxhash

PAGE = 4096
# Magic, format, build, template, size of the arena.
_HEAD = 40
# Pages, bytes of tables, checksum.
_FOOT = 24
_BASE = 1 << 40


@dataclass(frozen=True)
class Parts:
    """An image of one chunk, taken apart.

    Attributes:
        same: The head, which all images of one template have.
        numbers: Of the pages.
        tables: What the worker keeps beside the VM.
        pages: Contents, combined by xor with the template where that has the page.
    """

    same: bytes
    numbers: tuple[int, ...]
    tables: bytes
    pages: bytes

    def chunk(self) -> bytes:
        """What is packed, before LZ4."""
        numbers = struct.pack(f"<{len(self.numbers)}I", *self.numbers)
        return pack(self.pages) + numbers + self.tables

    def image(self, counts: tuple[int, int, int] | None = None) -> bytes:
        """The image, with a checksum that fits; perhaps with false counts."""
        raw = self.chunk()
        right = (len(self.numbers), len(self.tables), len(raw))
        return seal(self.same, counts or right, literal(raw))

    def with_byte(self, part: str, at: int, value: int) -> Parts:
        """One byte of `tables` or `pages` combined by xor with `value`."""
        data = bytearray(getattr(self, part))
        data[at % len(data)] ^= value
        return replace(self, **{part: bytes(data)})


def seal(same: bytes, counts: tuple[int, int, int], packed: bytes) -> bytes:
    """An image of counts (pages, bytes of tables, bytes of the chunk before LZ4) and that chunk."""
    pages, tables, raw = (count % (1 << 64) for count in counts)
    chunk = struct.pack("<2I", raw % (1 << 32), len(packed)) + packed
    return same + chunk + struct.pack("<3Q", pages, tables, xxhash.xxh3_64_intdigest(chunk))


def parts(image: bytes) -> Parts:
    """Takes an image apart."""
    count, tables, checksum = struct.unpack("<3Q", image[-_FOOT:])
    chunk = image[_HEAD:-_FOOT]
    assert checksum == xxhash.xxh3_64_intdigest(chunk)
    raw_len, kept = struct.unpack_from("<2I", chunk)
    assert kept == len(chunk) - 8
    raw = chunk[8:] if raw_len == kept else unpack(chunk[8:])
    assert len(raw) == raw_len
    tables_at = len(raw) - tables
    numbers_at = tables_at - 4 * count
    numbers = struct.unpack_from(f"<{count}I", raw, numbers_at)
    pages = unpack_pages(raw[:numbers_at])
    assert len(pages) == count * PAGE
    return Parts(image[:_HEAD], numbers, raw[tables_at:], pages)


def _swap(word: int) -> int:
    low = word & ~_BASE
    return word ^ _BASE if 1 << 16 <= low < 1 << 32 else word


def _fold(word: int) -> int:
    word = _swap(word)
    return (word << 1 ^ -(word >> 63)) % (1 << 64)


def _unfold(word: int) -> int:
    return _swap(word >> 1 ^ -(word & 1) % (1 << 64))


def _mask(data: bytes) -> int:
    return sum(1 << at for at, byte in enumerate(data) if byte)


def _dense(data: bytes) -> bytes:
    return bytes(byte for byte in data if byte)


def pack(pages: bytes) -> bytes:
    """Pages as an image has them."""
    out = bytearray()
    for start in range(0, len(pages), PAGE):
        words = struct.unpack_from("<512Q", pages, start)
        folded = [struct.pack("<Q", _fold(word)) for word in words]
        masks = [bytes(map(_mask, folded[at : at + 8])) for at in range(0, 512, 8)]
        out += bytes(map(_mask, masks)) + b"".join(map(_dense, masks + folded))
    return bytes(out)


def unpack_pages(packed: bytes) -> bytes:
    """Pages of what an image has."""
    out = bytearray()
    at = 0

    def spread(mask: int) -> bytes:
        nonlocal at
        data = bytearray(8)
        for place in range(8):
            if mask >> place & 1:
                data[place] = packed[at]
                at += 1
        return bytes(data)

    while at < len(packed):
        groups = packed[at : at + 64]
        at += 64
        masks = b"".join(map(spread, groups))
        for word in map(spread, masks):
            out += struct.pack("<Q", _unfold(int.from_bytes(word, "little")))
    return bytes(out)


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
