"""Is the index up to date? Asked before every answer, so a glance must do when all was looked at not long ago.

A glance sees what is new and what is gone in any folder, and what changed of the newest logs. That an older log was
taken up again only a look at every log tells: of many logs it takes as long as the answer, and is had after it, in a
process of its own, so that the next answer knows.
"""

from __future__ import annotations

import os
import sqlite3
import sys
import time
from pathlib import Path

from passdown.io.apart import start_apart
from passdown.sessions.index.changes import NEWEST, find_changes, seems_unchanged
from passdown.sessions.index.place import index_path

TRUSTED = 60.0
"""Seconds after a look at every log in which a glance is enough."""

OVERDUE = 86_400.0
"""Seconds after which that look is not put off any more."""


def is_current(database: sqlite3.Connection, path: Path, *, newest: int = NEWEST, exact: bool = False) -> bool:
    """Say whether the index holds what the agents' folders do now, as far as a glance at the `newest` logs tells.

    With `exact` the look at every log is not put off, when it is due.
    """
    age = _age(path)
    if age < OVERDUE and seems_unchanged(database, newest):
        if age < TRUSTED:
            return True
        if not exact and _has_more(database, newest) and note_check(path):
            start_apart([sys.executable, "-P", "-E", "-m", "passdown.sessions.index.check", str(path)])
            return True
    if any(find_changes(database)):
        return False
    note_check(path)
    return True


def look_at_every_log(path: Path) -> None:
    """Bring the index up to date if any log differs from what it holds."""
    from passdown.sessions.index.schema import reading

    with reading(path) as database:
        if database is not None and not any(find_changes(database)):
            return
    from passdown.sessions.index.fill import refresh

    refresh(path=path)


def note_check(path: Path) -> bool:
    """Note that every log was looked at just now; say whether that could be written down."""
    mark = _mark(path)
    try:
        descriptor = os.open(mark, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            os.utime(descriptor)
        finally:
            os.close(descriptor)
    except OSError:  # it only saves time
        return False
    return True


def _has_more(database: sqlite3.Connection, newest: int) -> bool:
    row = database.execute("SELECT 1 FROM logs LIMIT 1 OFFSET ?", (newest,)).fetchone()
    return row is not None


def _age(path: Path) -> float:
    try:
        age = time.time() - _mark(path).lstat().st_mtime
    except OSError:
        return OVERDUE
    return age if age >= 0 else OVERDUE  # a clock that went back


def _mark(path: Path) -> Path:
    return path.with_suffix(".checked")


if __name__ == "__main__":
    os.nice(5)
    look_at_every_log(Path(sys.argv[1]) if len(sys.argv) > 1 else index_path())
