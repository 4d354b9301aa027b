"""Append one line to a log that others append to as well."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from passdown.errors import ConflictError, UnsafeError
from passdown.io.files import lock

PATIENCE = 5.0
"""Seconds to wait for somebody else's lock."""


@contextmanager
def patient_lock(path: Path, patience: float = PATIENCE) -> Iterator[None]:
    """Hold the lock on `path`, waiting for whoever holds it. Raises `ConflictError` when that takes too long."""
    end = time.monotonic() + patience
    while True:
        held = lock(path)
        try:
            held.__enter__()
            break
        except ConflictError:
            if time.monotonic() >= end:
                raise
            time.sleep(0.02)
    try:
        yield
    finally:
        held.__exit__(None, None, None)


def append_line(path: Path, line: bytes, *, mode: int = 0o644) -> None:
    """Append a line (with its line feed) with one write; a torn line before it is closed first. Call it under a lock.

    A write that does not fit on the disk is taken back. Raises `UnsafeError` for anything but a regular file.
    """
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
    try:
        descriptor = os.open(path, flags, mode)
    except OSError as error:
        raise UnsafeError("cannot be appended to", where=path.name, next_step="Remove the link or folder.") from error
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise UnsafeError("is not a regular file", where=path.name, next_step="Remove it.")
        size = os.lseek(descriptor, 0, os.SEEK_END)
        torn = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
        data = b"\n" + line if torn else line
        if os.write(descriptor, data) != len(data):
            os.ftruncate(descriptor, size)
            raise OSError(28, os.strerror(28), str(path))  # ENOSPC
    finally:
        os.close(descriptor)
