"""SQLite, read only: an agent's live database is never written, locked or checkpointed."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Literal
from urllib.parse import quote

from passdown.errors import FormatError, UnsafeError
from passdown.io.files import open_regular


@contextlib.contextmanager
def open_database(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a database read-only, with whatever its write-ahead log holds; no file beside it is made.

    Where the live file refuses (a read-only folder with a log beside it, a crash in the middle of a write), a private
    copy is read instead. Raises `FormatError` when it is no SQLite database, cannot be read, is in use, a query fails,
    or somebody began to write while it was read without a log; `UnsafeError` for a symlink.
    """
    if path.is_symlink() or not path.is_file():
        raise UnsafeError("is not a regular file", where=str(path), next_step="Name the database itself.")
    with contextlib.ExitStack() as stack:
        try:
            try:
                before = path.stat()
                way = _way_in(path)
                connection = _open(path, way, stack)
            except OSError as error:
                raise FormatError(f"cannot be read: {error.strerror}", where=str(path)) from error
            stack.callback(connection.close)
            yield connection
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:  # a broken one is told of in broken words
            if getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                raise FormatError("is in use by its agent", where=str(path), next_step="Run this again.") from error
            raise FormatError(
                f"is not a readable SQLite database: {error}", where=str(path), next_step="Check that it is whole."
            ) from error
        if way == "immutable" and _changed(path, before):
            raise FormatError("was written to while it was read", where=str(path), next_step="Run this again.")


def _way_in(path: Path) -> Literal["ro", "immutable", "copy"]:
    # SQLite would make the log's two files for a reader, too. Without a log nobody is writing; a log without its index
    # is what a crash left behind.
    with open_regular(path) as stream:
        in_wal_mode = stream.read(20)[18:20] == b"\x02\x02"
    if not in_wal_mode:
        return "ro"
    if not os.path.lexists(_beside(path, "-wal")):
        return "immutable"
    return "ro" if os.path.lexists(_beside(path, "-shm")) else "copy"


def _open(path: Path, way: Literal["ro", "immutable", "copy"], stack: contextlib.ExitStack) -> sqlite3.Connection:
    if way != "copy":
        try:
            return _connect(path, "mode=ro" if way == "ro" else "mode=ro&immutable=1")
        except sqlite3.OperationalError:
            pass
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="passdown-")))
    copy = folder / "copy.db"
    for suffix in ("", "-wal", "-journal"):
        beside = _beside(path, suffix)
        if beside.is_file() and not beside.is_symlink():
            shutil.copyfile(beside, _beside(copy, suffix))
    return _connect(copy, "mode=rw")  # a copy may finish or undo what a crash left open


def _changed(path: Path, before: os.stat_result) -> bool:
    try:
        after = path.stat()
    except FileNotFoundError:
        return True
    return (before.st_mtime_ns, before.st_size) != (after.st_mtime_ns, after.st_size)


def _beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def _connect(path: Path, options: str) -> sqlite3.Connection:
    uri = f"file:{quote(os.fsencode(path.absolute()))}?{options}"
    connection = sqlite3.connect(uri, uri=True, timeout=2.0, isolation_level=None)
    try:
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        connection.execute("PRAGMA query_only = ON")
    except (sqlite3.Error, UnicodeDecodeError):
        connection.close()
        raise
    return connection
