"""SQLite, read only: an agent's live database is never written, locked or checkpointed."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from passdown.errors import FormatError, UnsafeError


@contextlib.contextmanager
def open_database(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a database read-only, with whatever its write-ahead log holds.

    Where the live file refuses (a read-only folder with a log beside it), a private copy of both is read instead.
    Raises `FormatError` when it is no SQLite database, `UnsafeError` for a symlink.
    """
    if path.is_symlink() or not path.is_file():
        raise UnsafeError("is not a regular file", where=str(path), next_step="Name the database itself.")
    with contextlib.ExitStack() as stack:
        try:
            connection = _connect(path)
        except sqlite3.OperationalError:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="passdown-")))
            copy = folder / "copy.db"
            shutil.copyfile(path, copy)
            for suffix in ("-wal", "-shm"):
                beside = path.with_name(path.name + suffix)
                if beside.is_file() and not beside.is_symlink():
                    shutil.copyfile(beside, copy.with_name(copy.name + suffix))
            try:
                connection = _connect(copy)
            except sqlite3.Error as error:
                raise FormatError(f"cannot be read: {error}", where=str(path)) from error
        except sqlite3.DatabaseError as error:
            raise FormatError(
                f"is not a readable SQLite database: {error}", where=str(path), next_step="Check that it is whole."
            ) from error
        stack.callback(connection.close)
        yield connection


def _connect(path: Path) -> sqlite3.Connection:
    uri = f"file:{quote(str(path.absolute()))}?mode=ro"
    connection = sqlite3.connect(uri, uri=True, timeout=2.0, isolation_level=None)
    try:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.Error:
        connection.close()
        raise
    return connection
