"""The rows of one session, from the SQLite database, the older tree of JSON files, or an `opencode export`.

All three yield the session's own record first and then messages, each followed by its parts: messages by time of
creation and id, parts by id.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from passdown.agents.opencode.database import SQLITE_MAGIC, database_rows
from passdown.agents.opencode.records import (
    BAD,
    DOCUMENT,
    EXPORTED,
    MESSAGE,
    SESSION,
    Document,
    SessionInfo,
    safe_id,
    torn_session,
)
from passdown.agents.opencode.row import Row
from passdown.errors import FormatError, PassdownError
from passdown.io.files import open_regular, read_bounded
from passdown.io.jsonl import MAX_LINE, salvage
from passdown.model.session import SessionRef

MAX_DOCUMENT = 1 << 30
"""Largest JSON document that is read, in bytes."""


class _Folders(NamedTuple):
    """Where the files of one session lie; `part` holds one folder a message."""

    message: Path
    part: Path
    todo: Path


def read_rows(ref: SessionRef, *, max_row: int = MAX_LINE) -> Iterator[SessionInfo | Row]:
    """Yield the session's record and then its rows. A row over `max_row` bytes comes without its data.

    Raises `FileNotFoundError` when the file is gone, `FormatError` when it is over 1 GiB or a database of
    something else, `UsageError` when a database holds several sessions and none is named.
    """
    path = Path(ref.path)
    with open_regular(path) as stream:
        magic = stream.read(len(SQLITE_MAGIC))
    if magic == SQLITE_MAGIC:
        yield from database_rows(path, ref.inner or ref.session_id, max_row)
        return
    data = read_bounded(path, MAX_DOCUMENT).removeprefix(b"\xef\xbb\xbf").rstrip(b"\x00 \t\r\n")
    try:
        document = DOCUMENT.decode(data)
    except BAD:
        torn = safe_id(path.stem)
        if torn.startswith("ses") and folders_of(path, torn).message.is_dir():  # a record that was not written whole
            yield from _tree(path, torn_session(data), len(data), max_row, torn=True)
        else:
            yield from _damaged_export(data)
        return
    if document.messages is not None or bytes(document.info):
        yield from _export(document)
    elif document.role:
        yield from _lone_message(path, document, data, max_row)
    else:
        yield from _tree(path, _session(data), len(data), max_row)


def _export(document: Document) -> Iterator[SessionInfo | Row]:
    yield _session(bytes(document.info))
    for raw in document.messages or ():
        yield from _exported(bytes(raw))


def _exported(raw: bytes) -> Iterator[Row]:
    try:
        message = EXPORTED.decode(raw)
    except BAD:
        yield Row("message", "", raw, len(raw))
        return
    info = bytes(message.info)
    yield Row("message", "", info, len(info))
    for part in message.parts or ():
        text = bytes(part)
        yield Row("part", "", text, len(text))


def _damaged_export(data: bytes) -> Iterator[SessionInfo | Row]:
    """Yield what can be saved of an export that is no whole JSON: it is cut off, or holds broken escapes."""
    text = data.decode("utf-8", "replace")
    decoder = json.JSONDecoder()
    info, position = _value_after(decoder, text, '"info"', 0)
    yield _session(_one(info)) if info else SessionInfo()
    start = text.find('"messages"', position)
    position = text.find("[", start) + 1 if start >= 0 else 0
    while position:
        while position < len(text) and text[position] in ", \t\r\n":
            position += 1
        if position >= len(text) or text[position] == "]":
            break
        try:
            _, end = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            yield Row("lost", "", None, len(text) - position)
            return
        yield from _exported(_one(text[position:end].encode("utf-8", "replace")))
        position = end
    if not info or position >= len(text) or not position:
        yield Row("lost", "", None, len(data))


def _value_after(decoder: json.JSONDecoder, text: str, key: str, start: int) -> tuple[bytes, int]:
    at = text.find(key, start, start + (1 << 20))
    at = text.find("{", at) if at >= 0 else -1
    if at < 0:
        return b"", 0
    try:
        _, end = decoder.raw_decode(text, at)
    except (ValueError, RecursionError):
        return b"", 0
    return text[at:end].encode("utf-8", "replace"), end


def _one(data: bytes) -> bytes:
    documents = salvage(data)
    return documents[0] if documents else data


def _session(data: bytes) -> SessionInfo:
    try:
        return SESSION.decode(data)
    except BAD:
        return SessionInfo()


def _lone_message(path: Path, document: Document, data: bytes, max_row: int) -> Iterator[SessionInfo | Row]:
    """Yield a message file by itself as a session of one message, with its parts when the tree around it has them."""
    yield SessionInfo(id=document.session_id)
    yield Row("message", safe_id(document.id), data, len(data))
    if identifier := safe_id(document.id):
        yield from _files("part", path.parent.parent.parent / "part" / identifier, max_row)


def folders_of(path: Path, session: str) -> _Folders:
    """Return where the files of the session lie whose record is `path`, in either generation of the tree."""
    if path.parent.name == "info" and path.parent.parent.name == "session":
        root = path.parent.parent
        return _Folders(root / "message" / session, root / "part" / session, root.parent / "todo" / f"{session}.json")
    root = path.parent.parent.parent
    return _Folders(root / "message" / session, root / "part", root / "todo" / f"{session}.json")


def _tree(
    path: Path, info: SessionInfo, length: int, max_row: int, *, torn: bool = False
) -> Iterator[SessionInfo | Row]:
    session = safe_id(info.id) or safe_id(path.stem)
    if not session.startswith("ses"):
        yield SessionInfo()
        yield Row("lost", "", None, length, "bad_shape")
        return
    yield info
    if torn:
        yield Row("lost", "", None, length)
    folders = folders_of(path, session)
    for row in _by_time(folders.message, max_row):
        yield row
        if row.id:
            yield from _files("part", folders.part / row.id, max_row)
    if (todo := _file("todo", folders.todo, max_row)) is not None:
        yield todo


def _by_time(folder: Path, max_row: int) -> Iterator[Row]:
    """Yield the messages of a folder by time of creation; each is read twice, so that one is in memory at a time."""
    order: list[tuple[float, str, Path]] = []
    for path in _json_files(folder):
        row = _file("message", path, max_row)
        created: float = 0
        if row is not None and row.data is not None:
            try:
                time = MESSAGE.decode(row.data).time
                created = (time.created if time else None) or 0
            except BAD:
                created = order[-1][0] if order else 0
        order.append((created, path.stem, path))
    for _, _, path in sorted(order):
        if (row := _file("message", path, max_row)) is not None:
            yield row


def _files(kind: Literal["message", "part"], folder: Path, max_row: int) -> Iterator[Row]:
    for path in _json_files(folder):
        if (row := _file(kind, path, max_row)) is not None:
            yield row


def _json_files(folder: Path) -> list[Path]:
    if folder.is_symlink() or not folder.is_dir():
        return []
    return sorted(path for path in folder.iterdir() if path.suffix == ".json" and safe_id(path.stem))


def _file(kind: Literal["message", "part", "todo"], path: Path, max_row: int) -> Row | None:
    try:
        data = read_bounded(path, max_row)
    except FormatError:
        return Row(kind, safe_id(path.stem), None, path.stat().st_size)
    except (OSError, PassdownError):
        return None
    return Row(kind, safe_id(path.stem), data, len(data))
