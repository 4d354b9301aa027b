"""The trajectories in a file: one document, a list of them, or one a line; and the items of a document's lists."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec import Raw, Struct

from passdown.errors import UsageError
from passdown.io.jsonl import Line, read_document, read_file_lines, salvage
from passdown.io.log import BAD
from passdown.model.pattern import lazy_pattern
from passdown.model.session import SessionEnd, Unknown
from passdown.redact.neutralise import one_line

MAX_DOCUMENT = 256 << 20
"""Longest document that is read, in bytes."""
_NAMES_SHOWN = 10

_LIST = msgspec.json.Decoder(list[Raw])
_RAW = msgspec.json.Decoder(Raw)
_BETWEEN = (b",", b" ", b"\n", b"\t", b"\r")
_COMMA = lazy_pattern(r"[\s,\x00]*")
_KEY = lazy_pattern(r'"(messages|history|steps|trajectory)"\s*:\s*\[')


class _Named(Struct, gc=False):
    instance_id: str | None = None
    id: str | int | None = None
    traj_id: str | None = None
    trajectory_id: str | None = None
    session_id: str | None = None


_NAMED = msgspec.json.Decoder(_Named)


class Row(NamedTuple):
    """One trajectory of a file as bytes. `data` is None where it is too long; `name` is its id or its number."""

    data: bytes | None
    name: str = ""
    offset: int = 0
    line: int = 0
    length: int = 0


class Part(NamedTuple):
    """One item of a list as bytes, or what is not understood."""

    data: bytes
    offset: int
    lost: Unknown | None = None


class Container(NamedTuple):
    """What a file holds: its trajectories, and its size."""

    rows: Iterator[Row]
    size: int


def open_rows(path: Path, *, listed: bool) -> Container:
    """Return the trajectories of a file. `listed` says that a list at the top holds trajectories, not messages.

    Lines are read one by one. Raises `FileNotFoundError` when the file is gone.
    """
    size = path.stat().st_size
    return Container(_lines(path) if is_lines(path) else _document(path, size, listed=listed), size)


def is_lines(path: Path) -> bool:
    """Say whether a file holds a trajectory a line. Raises `FileNotFoundError` when the file is gone."""
    first, second = (*islice(read_file_lines(path), 2), None, None)[:2]
    return first is not None and second is not None and (first.data is None or _is_object(first.data))


def _is_object(data: bytes) -> bool:
    if data.lstrip(b"\xef\xbb\xbf\x00 \t\r")[:1] != b"{":
        return False
    try:
        _RAW.decode(data)
    except BAD:
        return bool(salvage(data))
    return True


def _lines(path: Path) -> Iterator[Row]:
    return (row for line in read_file_lines(path) if (row := row_of(line)) is not None)


def is_blank(data: bytes) -> bool:
    """Say whether a line holds nothing."""
    return not data.strip(b"\x00 \t\r")


def row_of(line: Line) -> Row | None:
    """Return the trajectory of a line, None for an empty line."""
    if line.data is not None and is_blank(line.data):
        return None
    return Row(line.data, _name_of(line.data), line.offset, line.number, line.length)


def _document(path: Path, size: int, *, listed: bool) -> Iterator[Row]:
    if size > MAX_DOCUMENT:
        yield Row(None, length=size)
        return
    data = read_document(path, MAX_DOCUMENT + 1)
    if len(data) > MAX_DOCUMENT:
        yield Row(None, length=len(data))
        return
    if listed and data.lstrip(b"\xef\xbb\xbf\x00 \t\r\n")[:1] == b"[":
        for part in items(data, decode_list(data)):
            if part.lost is None:
                yield Row(part.data, _name_of(part.data), part.offset, 0, len(part.data))
        return
    yield Row(data, _name_of(data), 0, 0, len(data))


def decode_list(data: bytes) -> list[Raw] | None:
    """Return the items of a JSON list, mended where that is possible; None for one that is cut off."""
    try:
        return _LIST.decode(data)
    except BAD:
        documents = salvage(data)
    try:
        return _LIST.decode(documents[0]) if len(documents) == 1 else None
    except BAD:
        return None


def _name_of(data: bytes | None) -> str:
    try:
        named = _NAMED.decode(data or b"{}")
    except BAD:
        return ""
    for name in (named.instance_id, named.traj_id, named.trajectory_id, named.id, named.session_id):
        if name not in (None, ""):
            return str(name)[:300]
    return ""


def choose(container: Container, inner: str, where: str) -> Row:
    """Return the trajectory that `inner` names, by its id or its number counted from 1; of a single one, that.

    Raises `UsageError` when there are several and none, or one that is not there, is named.
    """
    chosen: Row | None = None
    names: list[str] = []
    for number, row in enumerate(container.rows, 1):
        names.append(row.name or str(number))
        if not inner and number == 1:
            chosen = row
        elif inner and (row.name == inner or (inner == str(number) and chosen is None)):
            chosen = row
            if row.name == inner:
                break
    if chosen is not None and (inner or len(names) == 1):
        return chosen
    if not names:
        return Row(b"")
    shown = ", ".join(one_line(name, 60) for name in names[:_NAMES_SHOWN])
    more = f" and {len(names) - _NAMES_SHOWN} more" if len(names) > _NAMES_SHOWN else ""
    what = f"holds no trajectory {one_line(inner, 80)!r}" if inner else f"holds {len(names)} trajectories"
    raise UsageError(
        f"{what}: {shown}{more}", where=where, next_step=f"Name one: {Path(where).name}#{one_line(names[0], 60)}"
    )


def items(data: bytes, raws: list[Raw] | None, key: str = "", base: int = 0) -> Iterator[Part]:
    """Yield the items of a list in a document. Of one that is cut off (`raws` is None), those that are whole.

    `key` is the name of the list within the document, empty for the document itself.
    """
    if raws is None:
        yield from _pulled_apart(data, key, base)
        return
    at = 1 if data.startswith(b"[") else 0
    for raw in raws:
        text = bytes(raw)
        while data[at : at + 1] in _BETWEEN:
            at += 1
        if not data.startswith(text, at):  # a search looks at the whole of what it is to find first
            at = max(data.find(text, at), at)
        yield Part(text, base + at)
        at += len(text)


def _pulled_apart(data: bytes, key: str, base: int) -> Iterator[Part]:
    text = data.decode("utf-8", "replace")
    begin = text.find("[") + 1 if not key else _behind(text, key)
    decoder, at, offset, counted = json.JSONDecoder(), begin, 0, 0
    while begin:
        gap = _COMMA.match(text, at)
        at = gap.end() if gap else at
        if not text.startswith(("{", "["), at):
            break
        offset, counted = offset + len(text[counted:at].encode()), at
        try:
            _, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            break
        yield Part(text[at:end].encode("utf-8", "replace"), base + offset)
        at = end
    left = max(0, len(data) - offset)
    yield Part(b"", base + offset, Unknown(reason="torn_line", length=left, offset=base + offset))


def _behind(text: str, key: str) -> int:
    return next((match.end() for match in _KEY.finditer(text) if match[1] == key), 0)


class Reading:
    """How much of a file was read: physical records, bytes, and what was passed over."""

    def __init__(self, row: Row) -> None:
        self.records = 0
        self.row = row

    def end(self, ignored: dict[str, int]) -> SessionEnd:
        """Return the end of the trajectory."""
        length = self.row.length
        return SessionEnd(records=self.records, bytes=length, offset=self.row.offset + length, ignored=ignored)

    def too_long(self) -> Unknown:
        """Return the note that the trajectory is longer than what is read."""
        self.records += 1
        return Unknown(reason="line_too_long", length=self.row.length, offset=self.row.offset, line=self.row.line)


def decoded(data: bytes, decoder: msgspec.json.Decoder[Any]) -> Any | None:
    """Return the record in some bytes, mended where that is possible; None for what is none."""
    try:
        return decoder.decode(data)
    except BAD:
        documents = salvage(data)
    try:
        return decoder.decode(documents[0]) if len(documents) == 1 else None
    except BAD:
        return None
