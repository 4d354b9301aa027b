"""Line logs, as several agents keep them: records with their place in the file, the ends of a file, ids and times."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import IO, Generic, Literal, TypeVar

import msgspec
from msgspec import Struct

from passdown.errors import UnsafeError
from passdown.io.files import open_regular
from passdown.io.jsonl import MAX_LINE, Line, pull_apart, read_file_lines
from passdown.model.pattern import lazy_pattern
from passdown.model.session import Unknown

HEAD = 64 << 10
"""Bytes read at either end of a file to find its sessions."""
_LONGEST = 1 << 20
"""Bytes read of a file whose first line is a long one."""
BAD = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What a decoder raises for a record that is none."""

Record = TypeVar("Record")
Number = int | float | None

_SECONDS = 100_000_000_000
"""Times below this are seconds: as milliseconds they would be of 1973 and before."""
_SAFE_ID = lazy_pattern(r"[0-9A-Za-z][0-9A-Za-z._-]{0,127}")


class Log(Generic[Record]):
    """The records of a file in order, each with its line; what cannot be decoded comes as an `Unknown`.

    `records` and `size` count what was read so far, physical records and bytes. A line over `max_line` bytes is passed
    over unread. Iterating raises `FileNotFoundError` when the file is gone.
    """

    def __init__(self, path: Path, decode: Callable[[bytes], Record], *, max_line: int = MAX_LINE) -> None:
        self.records = 0
        self.size = 0
        self._path = path
        self._decode = decode
        self._max_line = max_line

    def __iter__(self) -> Iterator[tuple[Line, Record | Unknown]]:
        decode = self._decode
        for line in read_file_lines(self._path, max_line=self._max_line):
            self.size = line.offset + line.length + line.complete
            if line.data is None:
                self.records += 1
                yield line, not_understood(line, "line_too_long")
                continue
            try:
                record = decode(line.data)
            except BAD:
                found = mended(line, decode)
                self.records += bool(found)
                for item in found:
                    yield line, item
            else:
                self.records += 1
                yield line, record


def mended(line: Line, decode: Callable[[bytes], Record]) -> list[Record | Unknown]:
    """Return the records of a line that is no single one, and a note of what could not be understood."""
    found: list[Record | Unknown] = []
    documents, left = pull_apart(line.data or b"")
    for document in documents:
        try:
            found.append(decode(document))
        except BAD:
            found.append(not_understood(line, "bad_shape"))
    if left:
        found.append(not_understood(line, "bad_json" if line.complete else "torn_line"))
    return found


def not_understood(
    line: Line, reason: Literal["bad_json", "torn_line", "line_too_long", "bad_shape", "unknown_type"], record: str = ""
) -> Unknown:
    """Return the note that a line's record was not understood."""
    return Unknown(record=record[:80], reason=reason, length=line.length, offset=line.offset, line=line.number)


def first_in(text: bytes, decode: Callable[[bytes], Record]) -> Record | None:
    """Return the first record in a line, mended when it is a whole line that is damaged; None when there is none."""
    text = text.strip(b"\x00 \t\r\n")
    try:
        return decode(text.removeprefix(b"\xef\xbb\xbf"))
    except BAD:
        documents = pull_apart(text)[0] if text.endswith(b"}") else []  # else cut off by the end of what was read
    for document in documents:
        try:
            return decode(document)
        except BAD:
            continue
    return None


def head_of(stream: IO[bytes]) -> bytes:
    """Return the first bytes of a log; where its first line is longer than that, that line and as many behind it."""
    head = stream.read(HEAD)
    if len(head) == HEAD and b"\n" not in head:
        head += stream.readline(_LONGEST - HEAD) + stream.read(HEAD)
    return head


class Ends(Struct, frozen=True, gc=False):
    """The first and last bytes of a file, its size, and when it last changed (milliseconds)."""

    head: bytes
    tail: bytes
    size: int
    modified: int


def ends_of(path: Path) -> Ends | None:
    """Return the ends of a file, None when it cannot be read or is no plain file."""
    try:
        with open_regular(path) as stream:
            head = stream.read(HEAD) if path.suffix == ".json" else head_of(stream)  # a document is all one line
            size = stream.seek(0, io.SEEK_END)
            stream.seek(max(len(head), size - HEAD))
            tail = stream.read(HEAD)
        return Ends(head, tail, size, int(path.stat().st_mtime * 1000))
    except (OSError, UnsafeError):
        return None


def newest_first(store: Path, *patterns: str) -> list[Path]:
    """Return the files of a store that match, newest first. Links to files or to their folders are left out."""
    found: list[tuple[float, Path]] = []
    for pattern in patterns:
        for path in store.glob(pattern):
            try:
                if not path.is_symlink() and not path.parent.is_symlink():
                    found.append((path.stat().st_mtime, path))
            except OSError:
                continue
    return [path for _, path in sorted(found, key=lambda item: (-item[0], str(item[1])))]


_MINUTES = {f"{minute:02}:": minute * 60_000 for minute in range(60)}


@lru_cache(maxsize=64)
def _hour(text: str) -> int:
    return round(datetime.fromisoformat(f"{text}00:00+00:00").timestamp() * 1000)


@lru_cache(maxsize=64)
def _minute(text: str) -> int:
    minute = _MINUTES.get(text[14:])
    if minute is None:
        return round(datetime.fromisoformat(f"{text}00+00:00").timestamp() * 1000)
    return _hour(text[:14]) + minute


def milliseconds(stamp: str | float | None) -> int | None:
    """Return a time in milliseconds since the epoch, None when it is none: ISO 8601, or a number.

    A time without a zone is taken for UTC, a number is one of seconds or of milliseconds, told apart by its size.
    """
    try:
        if isinstance(stamp, str):
            if len(stamp) == 24 and stamp[19] == "." and stamp[23] == "Z":
                # What JavaScript writes; records of one minute share most of the work, minutes of one hour.
                return _minute(stamp[:17]) + int(stamp[17:19] + stamp[20:23])
            moment = datetime.fromisoformat(stamp)
            if moment.tzinfo is None:
                moment = moment.replace(tzinfo=UTC)
            return round(moment.timestamp() * 1000)
        return None if stamp is None else int(stamp * 1000 if abs(stamp) < _SECONDS else stamp)
    except (ValueError, OverflowError):
        return None


def whole(number: Number) -> int | None:
    """Return a number as an integer, None when it is absent or infinite."""
    try:
        return None if number is None else int(number)
    except (ValueError, OverflowError):
        return None


def count(number: Number) -> int:
    """Return a token count, 0 for what is none."""
    return max(0, whole(number) or 0)


def safe_id(text: str | None) -> str:
    """Return an identifier that is one, else an empty string."""
    return text if text and _SAFE_ID.fullmatch(text) else ""
