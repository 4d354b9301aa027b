"""Standard input and output as the protocol's two streams: one message a line, bounded, and nothing else on either.

What this process, or a child of it, prints goes to standard error; what it reads is empty.
"""

from __future__ import annotations

import fcntl
import os
import sys
import threading
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct

LIMIT = 4 << 20
"""Longest line that is read as a message, in bytes; what is longer is skipped."""

_CHUNK = 1 << 16
_EDGE = 512


class TooLong(Struct, frozen=True):
    """A line beyond the limit, of which only both ends were kept."""

    start: bytes
    end: bytes


class Wire:
    """The two ends. Several threads may send; one reads."""

    def __init__(self) -> None:
        """Keep the two streams under numbers of their own: 0 is empty from now on, and 1 is standard error."""
        self._source, self._sink = (fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, 3) for number in (0, 1))
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, 0)
        try:
            os.dup2(2, 1)
        except OSError:  # there is no standard error
            os.dup2(nothing, 1)
        os.close(nothing)
        sys.stdout = sys.stderr
        self._sending = threading.Lock()
        self._gone = False

    def lines(self) -> Iterator[bytes | TooLong]:
        """Yield line after line until the client closes its end; the last one may lack its line feed."""
        kept = bytearray()
        length = 0
        while chunk := self._more():
            *whole, rest = chunk.split(b"\n")
            for part in whole:
                length += len(part)
                kept += part
                yield TooLong(bytes(kept[:_EDGE]), bytes(kept[-_EDGE:])) if length > LIMIT else bytes(kept)
                kept, length = bytearray(), 0
            kept += rest
            length += len(rest)
            if length > LIMIT:
                kept = kept[:_EDGE] + kept[-_EDGE:]
        if kept:
            yield TooLong(bytes(kept[:_EDGE]), bytes(kept[-_EDGE:])) if length > LIMIT else bytes(kept)

    def _more(self) -> bytes:
        try:
            return os.read(self._source, _CHUNK)
        except OSError:
            return b""

    def send(self, message: dict[str, Any]) -> None:
        """Send a message; once the client is gone, nothing."""
        left = memoryview(msgspec.json.encode(message) + b"\n")
        with self._sending:
            while left and not self._gone:
                try:
                    left = left[os.write(self._sink, left) :]
                except OSError:
                    self._gone = True
