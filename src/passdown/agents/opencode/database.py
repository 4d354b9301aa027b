"""OpenCode's database `opencode.db`: tables `session`, `message`, `part` and `todo`, whose columns vary by release.

The live database is read as it is, with its write-ahead log; nothing is written to it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import msgspec

from passdown.agents.opencode.records import BAD, REVERT, Revert, SessionInfo, Times
from passdown.agents.opencode.row import Row
from passdown.errors import FormatError, UsageError
from passdown.io.sqlite import open_database

SQLITE_MAGIC = b"SQLite format 3\x00"

_COLUMNS = ("id", "parent_id", "directory", "title", "version", "revert", "time_created", "time_updated")


def sessions_in(path: Path) -> list[SessionInfo]:
    """Return the sessions of a database, the one changed last first.

    Raises `FormatError` when it is no database of OpenCode's.
    """
    with open_database(path) as connection:
        return _sessions(connection, path, "")


def database_rows(path: Path, session: str, max_row: int) -> Iterator[SessionInfo | Row]:
    """Yield one session's record and rows. With no `session` the database must hold exactly one.

    Raises `FormatError` when it is not there, `UsageError` when there are several to choose from.
    """
    with open_database(path) as connection:
        found = _sessions(connection, path, session)
        if not found:
            raise FormatError(f"holds no session {session}".rstrip(), where=str(path), next_step="List its sessions.")
        if len(found) > 1:
            newest = ", ".join(str(info.id) for info in found[:3])
            raise UsageError(
                f"holds {len(found)} sessions", where=str(path), next_step=f"Name one; the newest are {newest}."
            )
        yield found[0]
        try:
            yield from _messages(connection, found[0].id or "", max_row)
        except sqlite3.Error:
            yield Row("lost", "", None, 0)


def _columns(connection: sqlite3.Connection, table: str) -> frozenset[str]:
    return frozenset(str(row[1]) for row in connection.execute(f"PRAGMA table_info({table})"))


def _sessions(connection: sqlite3.Connection, path: Path, session: str) -> list[SessionInfo]:
    connection.text_factory = lambda data: data.decode("utf-8", "replace")
    try:
        present = _columns(connection, "session")
        if not {"id", "directory"} <= present:
            raise FormatError("is no database of OpenCode's", where=str(path), next_step="Name opencode.db.")
        names = [name for name in _COLUMNS if name in present]
        order = "time_updated DESC, id" if "time_updated" in present else "id"
        query = f"SELECT {', '.join(names)} FROM session {'WHERE id = ?' if session else ''} ORDER BY {order}"  # noqa: S608 - fixed names
        rows = connection.execute(query, (session,) if session else ()).fetchall()
    except sqlite3.Error as error:
        raise FormatError(f"cannot be read: {error}", where=str(path), next_step="Check that it is whole.") from error
    return [_session(dict(zip(names, row, strict=True))) for row in rows]


def _session(row: dict[str, object]) -> SessionInfo:
    def text(name: str) -> str | None:
        value = row.get(name)
        return value if isinstance(value, str) else None

    def number(name: str) -> int | float | None:
        value = row.get(name)
        return value if isinstance(value, (int, float)) else None

    return SessionInfo(
        id=text("id"),
        parent_id=text("parent_id"),
        directory=text("directory"),
        title=text("title"),
        version=text("version"),
        revert=_revert(text("revert")),
        time=Times(created=number("time_created"), updated=number("time_updated")),
    )


def _revert(text: str | None) -> Revert | None:
    if not text:
        return None
    try:
        return REVERT.decode(text)
    except BAD:
        return None


def _messages(connection: sqlite3.Connection, session: str, max_row: int) -> Iterator[Row]:
    order = "time_created, id" if "time_created" in _columns(connection, "message") else "id"
    data = "CASE WHEN length(data) <= ? THEN CAST(data AS BLOB) END, length(data)"
    messages = connection.execute(
        f"SELECT id, {data} FROM message WHERE session_id = ? ORDER BY {order}",  # noqa: S608 - fixed names
        (max_row, session),
    )
    for message, content, length in messages:
        yield Row("message", str(message), content, length or 0)
        parts = connection.execute(
            f"SELECT id, {data} FROM part WHERE message_id = ? ORDER BY id",  # noqa: S608 - fixed names
            (max_row, message),
        )
        for part, content, length in parts:
            yield Row("part", str(part), content, length or 0)
    if {"session_id", "content", "status"} <= (columns := _columns(connection, "todo")):
        position = "position" if "position" in columns else "rowid"
        items = connection.execute(
            f"SELECT content, status FROM todo WHERE session_id = ? ORDER BY {position}",  # noqa: S608 - fixed names
            (session,),
        ).fetchmany(1000)
        if items:
            text = msgspec.json.encode([{"content": str(item[0]), "status": str(item[1])} for item in items])
            yield Row("todo", session, text, len(text))
