"""The database: where it lies, what it holds, and what happens to one that is broken or of another version."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path

from passdown.errors import UnsafeError
from passdown.sessions.index.place import index_path

__all__ = ["DAMAGED", "FORMAT", "PART_BITS", "anew", "index_path", "is_broken", "reading", "remove", "writing"]

FORMAT = 3
"""Raised by one whenever what the tables hold changes its meaning."""

DAMAGED = "the index of sessions was damaged and has been made anew"

PART_BITS = 20
"""A text's row number is its part's number shifted by so many bits, plus its place in it."""

_APPLICATION = 0x70646978
_BROKEN = frozenset({1, 11, 26})
"""SQLite's codes for a query that the tables do not answer, for damage, and for a file that is no database."""

_TABLES = """
CREATE TABLE facts(name TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE folders(
  path TEXT, agent TEXT, home TEXT, mtime_ns INTEGER, signature TEXT, PRIMARY KEY(path, agent, home)
) WITHOUT ROWID;
CREATE TABLE logs(
  folder TEXT, name TEXT, agent TEXT, size INTEGER, mtime_ns INTEGER, PRIMARY KEY(folder, name, agent)
) WITHOUT ROWID;
CREATE INDEX logs_time ON logs(mtime_ns);
CREATE TABLE sessions(
  id INTEGER PRIMARY KEY, agent TEXT, path TEXT, inner TEXT, home TEXT, session_id TEXT, bytes INTEGER, prefix TEXT,
  started_at INTEGER, modified_at INTEGER, ended_at INTEGER, cwd TEXT, branch TEXT, ref_branch TEXT, branches TEXT,
  title TEXT, ref_title TEXT, parent_id TEXT, parent_kind TEXT, commit_id TEXT, remote TEXT, tokens INTEGER,
  human_messages INTEGER, last_exit INTEGER, texts INTEGER, trouble TEXT
);
CREATE UNIQUE INDEX sessions_place ON sessions(agent, path, inner);
CREATE INDEX sessions_home ON sessions(agent, home);
CREATE INDEX sessions_grew ON sessions(modified_at);
CREATE TABLE parts(id INTEGER PRIMARY KEY AUTOINCREMENT, session INTEGER);
CREATE INDEX parts_session ON parts(session);
CREATE TABLE spent(session INTEGER PRIMARY KEY, began INTEGER, bytes INTEGER, tally BLOB, keys BLOB);
CREATE TABLE calls(session INTEGER PRIMARY KEY, lines BLOB);
CREATE TABLE said(id INTEGER PRIMARY KEY, kind TEXT, at INTEGER, place INTEGER, line INTEGER, text TEXT);
CREATE VIRTUAL TABLE words USING fts5(
  text, content='', columnsize=0, tokenize="unicode61 remove_diacritics 2"
);
INSERT INTO words(words, rank) VALUES('hashsize', 8388608);
"""


@contextlib.contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection | None]:
    """Open the index for questions: no wait for who writes it. None where there is none that can be read."""
    connection = None
    if path.is_file() and not path.is_symlink():
        with contextlib.suppress(sqlite3.Error):
            connection = _connect(path, "ro")
        if connection is None and not os.access(path.parent, os.W_OK):
            with contextlib.suppress(sqlite3.Error):
                connection = _connect(path, "ro&immutable=1")
    try:
        yield connection if connection is not None and _is_ours(connection) else None
    finally:
        if connection is not None:
            connection.close()


@contextlib.contextmanager
def writing(path: Path) -> Iterator[tuple[sqlite3.Connection, str]]:
    """Open the index for the one writer, who holds the lock; with it comes a note when it had to be made anew.

    Raises `sqlite3.Error` or `OSError` where the place cannot be written.
    """
    note = ""
    existed = path.exists()
    try:
        connection = _open(path)
        if not _is_ours(connection):
            note = _emptied(connection) if existed else ""
            _create(connection)
    except sqlite3.DatabaseError as error:
        if not is_broken(error):
            raise
        connection, note = anew(path)
    try:
        yield connection, note
    finally:
        connection.close()


def anew(path: Path) -> tuple[sqlite3.Connection, str]:
    """Remove a damaged index and return an empty one, with the note that says so."""
    remove(path)
    connection = _open(path)
    _create(connection)
    return connection, DAMAGED


def remove(path: Path) -> None:
    """Remove the index and the files that SQLite keeps beside it."""
    for suffix in ("", "-wal", "-shm", "-journal"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def is_broken(error: sqlite3.Error) -> bool:
    """Say whether an error means that the file is damaged, rather than locked, full or closed to us."""
    code: int | None = getattr(error, "sqlite_errorcode", None)
    return code is not None and code & 0xFF in _BROKEN


def _open(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_symlink():
        raise UnsafeError("is a symlink; not writing through it", where=str(path), next_step="Remove the link.")
    path.parent.chmod(0o700)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600))
    path.chmod(0o600)
    connection = _connect(path, "rw")
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA cache_size = -8192")
        connection.execute("PRAGMA wal_autocheckpoint = 4000")  # pages: a first pass waits for the disk less often
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    # Path.as_uri loads a module for what three characters need.
    name = str(path.absolute()).replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    uri = f"file:{name}?mode={mode}"
    connection = sqlite3.connect(uri, uri=True, timeout=5.0, isolation_level=None)
    try:
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _is_ours(connection: sqlite3.Connection) -> bool:
    try:
        application = connection.execute("PRAGMA application_id").fetchone()[0]
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if (application, version) != (_APPLICATION, FORMAT):
            return False
        row = connection.execute("SELECT value FROM facts WHERE name = 'passdown'").fetchone()
    except sqlite3.Error:
        return False
    return row is not None and row[0] == _version()


def _version() -> str:
    # Another version may read the same log differently. The package's root names upper layers, so it is not imported.
    version: str = sys.modules["passdown"].__version__
    return version


def _emptied(connection: sqlite3.Connection) -> str:
    """Drop what another version made; a process that reads meanwhile sees the old tables until it ends."""
    tables = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'").fetchall()
    connection.execute("BEGIN IMMEDIATE")
    tables.sort(key=lambda row: not str(row[1]).upper().startswith("CREATE VIRTUAL"))
    for name, _ in tables:
        if not name.startswith("sqlite_"):
            quoted = name.replace('"', '""')
            connection.execute(f'DROP TABLE IF EXISTS "{quoted}"')
    connection.execute("COMMIT")
    return "the index of sessions was made by another version and is made anew" if tables else ""


def _create(connection: sqlite3.Connection) -> None:
    connection.execute("BEGIN IMMEDIATE")
    for statement in _TABLES.split(";\n"):
        if statement.strip():
            connection.execute(statement)
    connection.execute("INSERT INTO facts VALUES('passdown', ?)", (_version(),))
    connection.execute(f"PRAGMA application_id = {_APPLICATION}")
    connection.execute(f"PRAGMA user_version = {FORMAT}")
    connection.execute("COMMIT")
