"""Tolerant JSON lines: bytes split on line feeds only, with offsets, in constant memory.

A record is never split at U+2028, U+2029 or U+0085 (they are legal inside JSON strings), the last line may be torn, and
a line over the cap is passed over unread and reported with its length.
"""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, NamedTuple, cast

import msgspec

from passdown.io.files import open_regular
from passdown.model.pattern import lazy_pattern

CHUNK = 1 << 20
READ = 1 << 17
"""Bytes that are read at a time: so few that they stay in the processor's cache while they are cut into lines."""
MAX_LINE = 16 << 20
"""Longest line that is read, in bytes; a longer one is counted and skipped (architecture §5)."""

_SURROGATE = lazy_pattern(rb"\\u[dD][89a-fA-F]")
_ESCAPE = lazy_pattern(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\.", re.DOTALL
)
_NON_FINITE = lazy_pattern(rb'"(?:[^"\\]|\\.)*+"?|(-?\b(?:NaN|Infinity)\b)', re.DOTALL)
_BETWEEN = lazy_pattern(r"[ \t\r\n\x00]*")


class Line(NamedTuple):
    """One physical line: byte `offset`, 1-based `number`, its bytes without the line feed, and its `length`.

    `data` is None when the line was longer than the cap. `complete` is False for a last line without a line feed.
    """

    offset: int
    number: int
    data: bytes | None
    length: int
    complete: bool


def open_log(path: Path) -> IO[bytes]:
    """Open a log for reading, decompressing `.zst` as it goes. Refuses anything but a regular file.

    Raises `UnsafeError` for a symlink, device or pipe, `FileNotFoundError` when it is gone. Reading a compressed log
    that ends early raises `EOFError`, one with broken bytes `zstd.ZstdError`.
    """
    raw = open_regular(path)
    return raw if path.suffix != ".zst" else _decompress(raw)


def _decompress(raw: IO[bytes]) -> IO[bytes]:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd

    class Decompressed(zstd.ZstdFile):  # a ZstdFile does not close the file it was given
        def close(self) -> None:
            try:
                super().close()
            finally:
                raw.close()

    return cast("IO[bytes]", Decompressed(raw, "rb"))


def read_lines(stream: IO[bytes], *, limit: int | None = None, max_line: int = MAX_LINE) -> Iterator[Line]:
    """Yield the lines of `stream`, at most `limit` bytes of it (a log may grow meanwhile)."""
    number, offset, carried, skipping = 0, 0, 0, False
    carry: list[bytes] = []
    new = tuple.__new__  # a good deal quicker than a named tuple's own way of being made
    remaining = limit
    while True:
        size = READ if remaining is None else min(READ, remaining)
        chunk = stream.read(size) if size else b""
        if not chunk:
            break
        if remaining is not None:
            remaining -= len(chunk)
        start = 0
        while (end := chunk.find(b"\n", start)) >= 0:
            number += 1
            length = end - start
            data: bytes | None = chunk[start:end]
            if carried or length > max_line:
                length += carried
                data = None if skipping or length > max_line else data
                if carry:  # let go of the parts before the line is handed over: a long one is held once
                    data = None if data is None else b"".join([*carry, data])
                carry, carried, skipping = [], 0, False
            yield new(Line, (offset, number, data, length, True))
            offset += length + 1
            start = end + 1
        if start < len(chunk):
            carried += len(chunk) - start
            if carried > max_line:
                skipping, carry = True, []
            elif not skipping:
                carry.append(chunk[start:])
    if carried:
        yield Line(offset, number + 1, None if skipping else b"".join(carry), carried, False)


def read_file_lines(path: Path, *, max_line: int = MAX_LINE) -> Iterator[Line]:
    """Yield the lines of a log file as it is now: what is appended while reading is left for the next time."""
    with open_log(path) as stream:
        limit = None if path.suffix == ".zst" else stream.seek(0, io.SEEK_END)
        stream.seek(0)
        yield from read_lines(stream, limit=limit, max_line=max_line)


def salvage(data: bytes) -> list[bytes]:
    """Return the JSON objects and arrays in a line that did not decode: repaired, or pulled apart when glued together.

    Repairs a byte order mark, NUL padding, invalid UTF-8, lone surrogate escapes and non-finite numbers. An empty list
    means nothing could be saved (a torn or broken record); what follows the last whole document is dropped.
    """
    text = data.strip(b"\x00 \t\r\n").removeprefix(b"\xef\xbb\xbf")
    if not text:
        return []
    text = text.decode("utf-8", "replace").encode()
    if _SURROGATE.search(text):
        text = _ESCAPE.sub(lambda match: rb"\ufffd" if match[1] else match[0], text)
    if b"NaN" in text or b"Infinity" in text:
        text = _NON_FINITE.sub(lambda match: b"null" if match[1] else match[0], text)
    documents: list[bytes] = []
    decoder = json.JSONDecoder()
    string = text.decode()
    position = 0
    try:
        while string.startswith(("{", "["), position):
            _, end = decoder.raw_decode(string, position)
            document = string[position:end].encode()
            msgspec.json.decode(document)  # stricter about the range of numbers
            documents.append(document)
            between = _BETWEEN.match(string, end)
            position = between.end() if between else end
    except (ValueError, RecursionError):
        return documents
    return documents
