"""The spool: what hooks noted of ended and stopped sessions, until a drain has made a packet of them."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from passdown.errors import PassdownError
from passdown.hooks.entry import state_folder
from passdown.hooks.ground import find_repository, stamp
from passdown.io.files import read_bounded

WORK = frozenset({"stop", "compact", "compacted", "end", "error", "interrupt"})
"""The events after which there may be work to hand over."""

LIMIT = 32 << 10
MOST = 2_000
GONE_AFTER = 7 * 86_400_000
"""Milliseconds that a record is kept whose folder is not there: a disk may come back."""

KEPT_FOR = 90 * 86_400.0
"""Seconds that it is remembered what a session was told."""

_BROKEN_KEPT = 50
_STAGED_FOR = 60.0


class Spooled(Struct, frozen=True, kw_only=True):
    """One hook's record: ids and paths, never what was said. `file` is where it lies; `at` is in milliseconds."""

    file: Path
    agent: str = ""
    event: str = ""
    session: str = ""
    path: str = ""
    cwd: str = ""
    at: int = 0


def state() -> Path | None:
    """Return the folder of passdown's own state for this user, None for one without a home."""
    folder = state_folder()
    return Path(folder) if folder else None


def read_spool() -> tuple[list[Spooled], int]:
    """Return the records, oldest first, and how many broken ones were put aside just now."""
    folder = state()
    if folder is None:
        return [], 0
    records, broken = [], 0
    for name in _names(folder / "spool"):
        path = folder / "spool" / name
        try:
            record = _decode(path) if name.endswith(".json") else None
        except OSError:  # another drain was faster
            continue
        if record is not None:
            records.append(record)
        elif name.endswith(".json") or _is_left(path):
            broken += _put_aside(path)
    return records, broken


def in_worktree(records: Iterable[Spooled], root: Path) -> list[Spooled]:
    """Return the records of sessions that worked in the worktree at `root`."""
    here = stamp(str(root))[:2]
    known: dict[str, bool] = {}
    for record in records:
        if record.cwd not in known:
            place = find_repository(record.cwd)
            known[record.cwd] = place is not None and stamp(place[0])[:2] == here
    return [record for record in records if known[record.cwd]]


def has_work(root: Path) -> bool:
    """Say whether sessions of this worktree ended or stopped since the last drain."""
    records, _ = read_spool()
    return any(record.event in WORK for record in in_worktree(records, root))


def remove(records: Iterable[Spooled]) -> None:
    """Remove records that were handled."""
    for record in records:
        record.file.unlink(missing_ok=True)


def forget_old() -> None:
    """Remove what is remembered of sessions that nothing was heard of for a long time."""
    folder = state()
    if folder is None:
        return
    before = time.time() - KEPT_FOR
    try:
        names = sorted(os.listdir(folder / "sessions"))[:MOST]  # noqa: PTH208
    except OSError:
        return
    for name in names:
        place = folder / "sessions" / name
        if not place.is_symlink() and place.lstat().st_mtime < before:
            shutil.rmtree(place, ignore_errors=True)


def _names(folder: Path) -> list[str]:
    try:
        return sorted(name for name in os.listdir(folder) if name.endswith((".json", ".tmp")))[:MOST]  # noqa: PTH208
    except OSError:
        return []


def _decode(path: Path) -> Spooled | None:
    try:
        plain = json.loads(read_bounded(path, LIMIT))
    except (ValueError, RecursionError, PassdownError):
        return None
    if not isinstance(plain, dict) or plain.get("v") != 1:
        return None
    fields = {name: plain.get(name, "") for name in ("agent", "event", "session", "path", "cwd")}
    at = plain.get("at")
    if not all(isinstance(value, str) for value in fields.values()) or not isinstance(at, int):
        return None
    return Spooled(file=path, at=at, **fields) if fields["cwd"].startswith("/") else None


def _is_left(path: Path) -> bool:
    """Say whether a file that a hook was writing was left half done."""
    return path.lstat().st_mtime < time.time() - _STAGED_FOR


def _put_aside(path: Path) -> int:
    """Move a broken record out of the way; the oldest ones there go."""
    aside = path.parent / "broken"
    try:
        aside.mkdir(mode=0o700, exist_ok=True)
        path.rename(aside / path.name)
        for name in sorted(os.listdir(aside))[:-_BROKEN_KEPT]:  # noqa: PTH208
            (aside / name).unlink(missing_ok=True)
    except OSError:
        return 0
    return 1
