"""Cursor's `store.db`: `meta` holds JSON in hexadecimal, `blobs` the messages and what strings them together.

The newest root blob is protobuf whose first field, repeated, names the messages in their order; field 9 is the
workspace's URI. Seen in public readers and one file of a test's making; nothing is written to the live database.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from passdown.agents.cursor.records import META, Meta
from passdown.errors import FormatError
from passdown.io.log import BAD
from passdown.io.sqlite import open_database

MAGIC = b"SQLite format 3\x00"
_TABLES = (b"CREATE TABLE blobs", b"CREATE TABLE meta")
_MOST = 200_000
_VARINT = 10


class Blob(NamedTuple):
    """A message, with its number; `data` is None when it is longer than may be read, or gone."""

    number: int
    data: bytes | None
    length: int


class Outside(NamedTuple):
    """What is told of a session besides its messages."""

    meta: Meta
    cwd: str = ""
    order: tuple[str, ...] = ()


def is_store(head: bytes) -> bool:
    """Say whether a file that starts with `head` is such a database."""
    return head.startswith(MAGIC) and all(table in head for table in _TABLES)


def outside(path: Path) -> Outside:
    """Return what a database tells of its session. Raises `FormatError` when it is none of Cursor's."""
    with open_database(path) as connection:
        return _outside(connection, path)


def _outside(connection: sqlite3.Connection, path: Path) -> Outside:
    connection.text_factory = lambda data: data.decode("utf-8", "replace")
    try:
        row = connection.execute("SELECT value FROM meta WHERE key = '0'").fetchone()
        meta = _meta(row[0]) if row is not None else Meta()
        root = meta.latest_root_blob_id
        found = connection.execute("SELECT data FROM blobs WHERE id = ?", (root,)).fetchone() if root else None
    except sqlite3.OperationalError as error:
        raise FormatError(f"is no database of Cursor's: {error}", where=str(path)) from error
    data = found[0] if found is not None and isinstance(found[0], bytes) else b""
    fields = list(_fields(data))
    order = tuple(value.hex() for number, value in fields if number == 1 and len(value) == 32)
    uri = next((value for number, value in fields if number == 9), b"")
    return Outside(meta, _path_of(uri.decode("utf-8", "replace")), order)


def _meta(value: object) -> Meta:
    try:
        text = bytes.fromhex(value) if isinstance(value, str) else value
        return META.decode(text) if isinstance(text, bytes) else Meta()
    except (ValueError, *BAD):
        return Meta()


def _path_of(uri: str) -> str:
    return unquote(uri.removeprefix("file://"))[:4096] if uri.startswith("file:///") else ""


def _fields(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the length-delimited fields of a protobuf message, and stop at what is none."""
    at = 0
    while at < len(data):
        tag, at = _number(data, at)
        kind = tag & 7
        if kind == 0:
            _, at = _number(data, at)
        elif kind == 2:
            size, at = _number(data, at)
            if at < 0 or at + size > len(data):
                return
            yield tag >> 3, data[at : at + size]
            at += size
        elif kind in (1, 5):
            at += 8 if kind == 1 else 4
        else:
            return
        if at < 0:
            return


def _number(data: bytes, at: int) -> tuple[int, int]:
    """Return a variable-length number and where it ends, -1 when it does not."""
    value = 0
    for place in range(_VARINT):
        if at < 0 or at >= len(data):
            return 0, -1
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:
            return value, at
    return 0, -1


def messages(path: Path, max_row: int) -> Iterator[Outside | Blob]:
    """Yield what is told of the session, then its messages in their order.

    Without a root every JSON blob counts, in the order they were put in. Raises `FormatError` for another database.
    """
    with open_database(path) as connection:
        told = _outside(connection, path)
        yield told
        size = "length(data), CASE WHEN length(data) <= ? THEN CAST(data AS BLOB) END"
        if told.order:
            query = f"SELECT {size} FROM blobs WHERE id = ?"  # noqa: S608 - fixed names
            for number, name in enumerate(told.order[:_MOST], 1):
                row = connection.execute(query, (max_row, name)).fetchone()
                length, data = row if row is not None else (0, None)
                if data is None or data[:1] == b"{":
                    yield Blob(number, data, length or 0)
            return
        query = f"SELECT {size} FROM blobs WHERE substr(CAST(data AS BLOB), 1, 1) = x'7B' ORDER BY rowid LIMIT ?"  # noqa: S608
        for number, (length, data) in enumerate(connection.execute(query, (max_row, _MOST)), 1):
            yield Blob(number, data, length or 0)
