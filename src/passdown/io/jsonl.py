"""Tolerant JSON lines: bytes split on line feeds only, with offsets, in constant memory.

A record is never split at U+2028, U+2029 or U+0085 (they are legal inside JSON strings), the last line may be torn, and
a line over the cap is passed over unread and reported with its length.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import msgspec
from msgspec import Struct, structs

from passdown.io.compressed import Decompressed, is_compressed
from passdown.io.files import open_regular
from passdown.io.wide import LONG, narrowed
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
_STRING = lazy_pattern(rb'"(?:[^"\\]|\\.)*+"', re.DOTALL)
_CONTROL = lazy_pattern(rb"[\x00-\x1f]")
_TRIES = 32
"""Places in a line at which a record is looked for once more."""
_TORN = b"\n{"
"""Stands behind what could be decompressed of a record: with it, it is none."""
_BETWEEN = lazy_pattern(r"[ \t\r\n\x00]*")


class Line(Struct, frozen=True, gc=False):
    """One physical line: byte `offset`, 1-based `number`, its bytes without the line feed, and its `length`.

    In a text of many megabytes that would take too much memory, wide characters are replaced (`passdown.io.wide`).
    `data` is None when the line was longer than the cap. `complete` is False for a last line without a line feed.
    """

    offset: int
    number: int
    data: bytes | None
    length: int
    complete: bool


def open_log(path: Path) -> IO[bytes]:
    """Open a log for reading, decompressing as it goes what begins as Zstandard or gzip does, whatever its name.

    Raises `UnsafeError` for anything but a regular file, `FileNotFoundError` when it is gone. A compressed log that is
    cut short or broken ends where its last good bytes end.
    """
    raw = open_regular(path)
    try:
        return io.BufferedReader(Decompressed(raw), READ) if is_compressed(raw) else raw
    except BaseException:
        raw.close()
        raise


def read_lines(stream: IO[bytes], *, limit: int | None = None, max_line: int = MAX_LINE) -> Iterator[Line]:
    """Yield the lines of `stream`, at most `limit` bytes of it (a log may grow meanwhile)."""
    number, offset, carried, skipping = 0, 0, 0, False
    carry: list[bytes] = []
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
                if data is not None and length >= LONG:
                    data = narrowed(data)
            yield Line(offset, number, data, length, True)
            offset += length + 1
            start = end + 1
        if start < len(chunk):
            carried += len(chunk) - start
            if carried > max_line:
                skipping, carry = True, []
            elif not skipping:
                carry.append(chunk[start:])
    if carried:
        yield Line(offset, number + 1, None if skipping else narrowed(b"".join(carry)), carried, False)


def read_file_lines(path: Path, *, max_line: int = MAX_LINE) -> Iterator[Line]:
    """Yield the lines of a log file as it is now: what is appended while reading is left for the next time.

    Where a compressed log ends badly, the last line is not complete and does not decode.
    """
    with open_log(path) as stream:
        size = size_of(stream)
        if size is None:
            yield from _unpacked(stream, max_line)
        else:
            yield from read_lines(stream, limit=size, max_line=max_line)


def read_document(path: Path, limit: int) -> bytes:
    """Return the first bytes of a file, up to `limit`, decompressed; memory is taken for those that are there alone."""
    with open_log(path) as stream:
        size = size_of(stream)
        if size is not None:
            return stream.read(min(limit, size + 1))
        parts, left = [], limit
        while left and (part := stream.read(min(left, CHUNK))):
            parts.append(part)
            left -= len(part)
    return b"".join(parts)


def size_of(stream: IO[bytes]) -> int | None:
    """Return how many bytes an open log holds now; None for a compressed one, which tells only at its end."""
    if _packed_in(stream) is not None:
        return None
    size = stream.seek(0, io.SEEK_END)
    stream.seek(0)
    return size


def _packed_in(stream: IO[bytes]) -> Decompressed | None:
    """Return what an open log is decompressed by, None for a plain one."""
    raw = getattr(stream, "raw", None)
    return raw if isinstance(raw, Decompressed) else None


def _unpacked(stream: IO[bytes], max_line: int) -> Iterator[Line]:
    last = Line(0, 1, b"", 0, complete=False)
    for line in read_lines(stream, max_line=max_line):
        if not line.complete:
            last = line
            break
        yield line
        last = Line(line.offset + line.length + 1, line.number + 1, b"", 0, complete=False)
    packed = _packed_in(stream)
    if packed is not None and packed.broken and last.data is not None:  # by chance it may be a whole record
        last = structs.replace(last, data=last.data + _TORN)
    if last.length or last.data:
        yield last


def salvage(data: bytes) -> list[bytes]:
    """Return the JSON objects and arrays in a text that did not decode: repaired, or pulled apart when glued together.

    Repairs a byte order mark, NUL padding, control characters, invalid UTF-8, lone surrogate escapes and non-finite
    numbers. An empty list means nothing could be saved (a torn or broken record); what follows the last whole document
    is dropped.
    """
    return _pull_apart(data, again=False)[0]


def pull_apart(data: bytes) -> tuple[list[bytes], bool]:
    """Return the records in a line that did not decode, and whether anything in it is none.

    They are repaired as by `salvage`. A record that begins where another one was torn off is found as well: what is
    appended after a crash stands on the line that the crash left half written. One torn off between two values swallows
    what follows it.
    """
    return _pull_apart(data, again=True)


def _pull_apart(data: bytes, *, again: bool) -> tuple[list[bytes], bool]:
    import json  # most logs hold nothing to mend

    string = _repaired(data)
    documents: list[bytes] = []
    decoder = json.JSONDecoder(strict=False)
    position, left = 0, bool(string) and not string.startswith(("{", "["))
    tries = 0 if left else _TRIES
    while position < len(string) and tries:
        stopped = position
        try:
            if string.startswith(("{", "["), position):
                _, end = decoder.raw_decode(string, position)
                documents.append(_strict(string[position:end]))
                between = _BETWEEN.match(string, end)
                position = between.end() if between else end
                continue
        except json.JSONDecodeError as error:
            stopped = error.pos
        except (ValueError, RecursionError):
            return documents, True
        left, tries = True, tries - 1
        # A quote in a string is escaped: a brace with a bare one, where the text stopped making sense, begins a record.
        position = string.find('{"', max(stopped - 2, position + 1), stopped + 8) if again else -1
        if position < 0:
            break
    return documents, left


def _repaired(data: bytes) -> str:
    text = data.strip(b"\x00 \t\r\n").removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace").encode()
    if _SURROGATE.search(text):
        text = _ESCAPE.sub(lambda match: rb"\ufffd" if match[1] else match[0], text)
    if b"NaN" in text or b"Infinity" in text:
        text = _NON_FINITE.sub(lambda match: b"null" if match[1] else match[0], text)
    return text.decode()


def _strict(text: str) -> bytes:
    """Return a document as one that a strict decoder takes. Raises `msgspec.DecodeError` when there is none."""
    document = text.encode()
    try:
        msgspec.json.decode(document)  # stricter about the range of numbers, too
    except msgspec.DecodeError:
        document = _STRING.sub(lambda match: _CONTROL.sub(_escaped, match[0]), document)
        msgspec.json.decode(document)
    return document


def _escaped(match: re.Match[bytes]) -> bytes:
    return b"\\u%04x" % match[0][0]
