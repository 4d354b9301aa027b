"""The beginning and the end of a stream, whatever lies between: memory that does not grow with what flows by."""

from __future__ import annotations

from typing import NamedTuple

HEAD = 16 << 10
"""Bytes of the beginning that are kept."""

TAIL = 96 << 10
"""Bytes of the end that are kept, at least."""


class Kept(NamedTuple):
    """What was kept of a stream as text: all of it in `head` when nothing is missing, else both ends by whole lines.

    `lines` counts the lines that flowed by, `missing` those that are in neither end. Bytes that are no UTF-8 are
    replaced.
    """

    head: str
    tail: str = ""
    lines: int = 0
    missing: int = 0


class Capture:
    """Takes note of a stream piece by piece."""

    def __init__(self) -> None:
        self._head = bytearray()
        self._tail = bytearray()
        self._lines = 0
        self._last = b"\n"
        self.bytes = 0

    def feed(self, piece: bytes) -> None:
        """Take note of the next bytes."""
        if not piece:
            return
        self.bytes += len(piece)
        self._lines += piece.count(b"\n")
        self._last = piece[-1:]
        room = HEAD - len(self._head)
        if room > 0:
            self._head += piece[:room]
            piece = piece[room:]
        self._tail += piece
        if len(self._tail) > 2 * TAIL:
            del self._tail[:-TAIL]

    def finish(self) -> Kept:
        """Return both ends. A line that was cut in two is left out of them: half a secret is not recognised."""
        lines = self._lines + (self._last != b"\n")
        if len(self._head) + len(self._tail) == self.bytes:
            return Kept(bytes(self._head + self._tail).decode("utf-8", "replace"), "", lines, 0)
        head = bytes(self._head)
        head = head[: head.rfind(b"\n") + 1] or head[: HEAD // 4]
        tail = bytes(self._tail)[-TAIL:]
        cut = tail.find(b"\n") + 1
        tail = tail[cut:] if 0 < cut < len(tail) else tail[TAIL // 2 :]
        missing = max(1, lines - _lines_in(head) - _lines_in(tail))
        return Kept(head.decode("utf-8", "replace"), tail.decode("utf-8", "replace"), lines, missing)


def _lines_in(data: bytes) -> int:
    return data.count(b"\n") + (not data.endswith(b"\n") and bool(data))
