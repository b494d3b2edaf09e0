"""What a server says besides the protocol, in bounded memory."""

from __future__ import annotations

from collections import deque


class LogBuffer:
    """The last bytes that a server wrote where no protocol was.

    Attributes:
        status: Exit status of a child process that ended by itself, else None.
    """

    def __init__(self, limit: int = 64 * 1024) -> None:
        """Keeps about `limit` bytes."""
        self.status: int | None = None
        self._limit = limit
        self._size = 0
        self._chunks: deque[bytes] = deque()

    def write(self, data: bytes) -> None:
        """Appends `data` and drops the oldest chunks over the limit."""
        data = data[-self._limit :]
        self._chunks.append(data)
        self._size += len(data)
        while self._size > self._limit and len(self._chunks) > 1:
            self._size -= len(self._chunks.popleft())

    def text(self) -> str:
        """What is kept, at most the limit; bytes that are not UTF-8 are replaced."""
        return b"".join(self._chunks)[-self._limit :].decode("utf-8", "replace")

    def last_line(self) -> str:
        """The last line that is not blank, or an empty string."""
        lines = [line.strip() for line in self.text().splitlines() if line.strip()]
        return lines[-1][:300] if lines else ""
