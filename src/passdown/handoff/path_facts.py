"""What the working tree says of a path that a packet names: is it there, how large, with which content."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Collection
from functools import cache
from pathlib import Path

from passdown.errors import PassdownError
from passdown.io.files import is_inside, open_regular
from passdown.model.digest import sha256
from passdown.model.path import encode_path
from passdown.packet.paths import PathFact, is_relative

HASHED = 64 << 20
"""Largest file that is hashed, in bytes; a larger one is known by its size alone."""
_SHORT = 64 << 10
"""Largest file that is hashed in less time than loading OpenSSL takes."""


def path_facts(root: Path, tracked: Collection[str]) -> Callable[[str], PathFact | None]:
    """Return a function that answers for repository-relative paths, looking at each one once and following no link out.

    It answers None for what is no path of this repository.
    """

    base = str(root)

    @cache
    def look(path: str) -> PathFact | None:
        if not is_relative(path) or len(path) > 4096:
            return None
        try:
            # Most of what a text names is no file: a path object is not made for it.
            name = os.path.join(base, os.path.normpath(os.fsdecode(encode_path(path))))  # noqa: PTH118
            status = os.lstat(name)
        except FileNotFoundError:
            return PathFact(exists=False)
        except (OSError, ValueError, PassdownError):
            return None
        place = Path(name)
        if not is_inside(root, place):
            return PathFact(outside=True)
        target = ""
        if stat.S_ISLNK(status.st_mode):
            place = place.resolve()
            if not place.exists():
                return PathFact(exists=False)
            target = place.relative_to(root.resolve()).as_posix()
            status = place.stat()
        known = path in tracked or (
            stat.S_ISDIR(status.st_mode) and any(name.startswith(f"{path}/") for name in tracked)
        )
        if not stat.S_ISREG(status.st_mode):
            return PathFact(tracked=known, target=target)
        digest = _digest(place, status.st_size) if status.st_size <= HASHED else ""
        return PathFact(sha256=digest, bytes=status.st_size, tracked=known, target=target)

    return look


def _digest(place: Path, size: int) -> str:
    if size <= _SHORT:
        digest = sha256()
    else:
        import hashlib

        digest = hashlib.sha256()
    try:
        with open_regular(place) as stream:
            while block := stream.read(1 << 20):
                digest.update(block)
            return digest.hexdigest()
    except (OSError, PassdownError):
        return ""
