"""Is the index up to date? Asked before every answer, so a glance must do when all was looked at a moment ago."""

from __future__ import annotations

import os
import sqlite3
import time
from pathlib import Path

from passdown.sessions.index.changes import find_changes, seems_unchanged

TRUSTED = 60.0
"""Seconds after a look at every log in which a glance at the folders and the newest logs is enough."""


def is_current(database: sqlite3.Connection, path: Path) -> bool:
    """Say whether the index holds what the agents' folders do now."""
    if _age(path) < TRUSTED and seems_unchanged(database):
        return True
    if any(find_changes(database)):
        return False
    note_check(path)
    return True


def note_check(path: Path) -> None:
    """Note that every log was looked at just now."""
    mark = _mark(path)
    try:
        descriptor = os.open(mark, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            os.utime(descriptor)
        finally:
            os.close(descriptor)
    except OSError:  # it only saves time
        pass


def _age(path: Path) -> float:
    try:
        age = time.time() - _mark(path).lstat().st_mtime
    except OSError:
        return TRUSTED
    return age if age >= 0 else TRUSTED  # a clock that went back


def _mark(path: Path) -> Path:
    return path.with_suffix(".checked")
