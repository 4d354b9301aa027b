"""Tolerant JSON lines: bytes split on line feeds only, with offsets, in constant memory.

A record is never split at U+2028, U+2029 or U+0085 (they are legal inside JSON strings), the last line may be torn, and
a line over the cap is passed over unread and reported with its length.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO, NamedTuple, cast

from passdown.io.files import open_regular

CHUNK = 1 << 20
MAX_LINE = 16 << 20
"""Longest line that is read, in bytes; a longer one is counted and skipped (architecture §5)."""

_LONE_SURROGATE = re.compile(
    rb"(?<!\\)((?:\\\\)*)\\u(?:[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F][0-9a-fA-F]{2})"
    rb"|(?<!\\u[dD][89abAB][0-9a-fA-F]{2}\\u)[dD][c-fC-F][0-9a-fA-F]{2})"
)
_NON_FINITE = re.compile(rb"(?<=[:,\[\s])(?:NaN|-?Infinity)(?=[\s,\]}])")


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

    Raises `UnsafeError` for a symlink, device or pipe, `FileNotFoundError` when it is gone.
    """
    raw = open_regular(path)
    if path.suffix != ".zst":
        return raw
    from backports import zstd

    return cast("IO[bytes]", zstd.ZstdFile(raw, "rb"))


def read_lines(stream: IO[bytes], *, limit: int | None = None, max_line: int = MAX_LINE) -> Iterator[Line]:
    """Yield the lines of `stream`, at most `limit` bytes of it (a log may grow meanwhile)."""
    number, offset, carried, skipping = 0, 0, 0, False
    carry: list[bytes] = []
    remaining = limit
    while True:
        size = CHUNK if remaining is None else min(CHUNK, remaining)
        chunk = stream.read(size) if size else b""
        if not chunk:
            break
        if remaining is not None:
            remaining -= len(chunk)
        start = 0
        while (end := chunk.find(b"\n", start)) >= 0:
            number += 1
            length = carried + end - start
            if skipping or length > max_line:
                yield Line(offset, number, None, length, True)
            elif carry:
                carry.append(chunk[start:end])
                yield Line(offset, number, b"".join(carry), length, True)
            else:
                yield Line(offset, number, chunk[start:end], length, True)
            carry, carried, skipping = [], 0, False
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
    """Return the JSON documents inside a line that did not decode: repaired, or pulled apart when glued together.

    Repairs a byte order mark, NUL padding, invalid UTF-8, lone surrogate escapes and non-finite numbers. An empty list
    means nothing could be saved (a torn or broken record).
    """
    text = data.strip(b"\x00 \t\r\n").removeprefix(b"\xef\xbb\xbf")
    if not text:
        return []
    text = text.decode("utf-8", "replace").encode()
    text = _LONE_SURROGATE.sub(rb"\1\\ufffd", text)
    text = _NON_FINITE.sub(b"null", text)
    documents: list[bytes] = []
    decoder = json.JSONDecoder()
    string = text.decode()
    position = 0
    try:
        while position < len(string):
            _, end = decoder.raw_decode(string, position)
            documents.append(string[position:end].encode())
            position = end
            while position < len(string) and string[position] in " \t\r\n\x00":
                position += 1
    except (ValueError, RecursionError):
        return documents
    return documents
