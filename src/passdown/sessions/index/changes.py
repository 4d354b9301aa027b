"""What changed since the index was last brought up to date: by sizes and times, read from no log."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

from passdown.agents.table import Agent, sessions_of
from passdown.errors import PassdownError
from passdown.io.files import open_regular
from passdown.sessions.index.stores import Folder, list_files, rows

if TYPE_CHECKING:
    from passdown.model.session import SessionRef

LARGE = 16 << 20
"""Bytes from which on a log that is being written is read again only when it grew by an eighth, or rests."""

RESTING_MS = 120_000
SETTLED_NS = 20_000_000
"""A file written so shortly before it was looked at may have changed since without a change of its time."""

NEWEST = 500
"""Logs whose size and time even a glance compares, the newest ones."""

_HEAD, _TAIL = 64 << 10, 4 << 10


class Task(NamedTuple):
    """A session to be read. `ref` is set where the agent's `find` told of it, None for a file that `refer` knows."""

    agent: str
    home: str
    path: str
    size: int
    mtime_ns: int
    ref: SessionRef | None = None


class Grown(NamedTuple):
    """A large log that only grew, and is not read again yet."""

    agent: str
    path: str
    size: int
    mtime_ns: int


class Changes(NamedTuple):
    """What is to be done: sessions to read, files that are gone, and the folders as they are now."""

    tasks: list[Task]
    gone: list[tuple[str, str, str]]
    grown: list[Grown]
    folders: list[tuple[str, str, str, int, str]]
    """Path, agent, home, time and signature of every folder that differs from what is known."""
    left: list[tuple[str, str, str]]
    """Path, agent and home of every folder that is there no more."""


def find_changes(connection: sqlite3.Connection, *, now_ns: int | None = None) -> Changes:
    """Compare what lies in the agents' folders with what the index knows."""
    now_ns = time.time_ns() if now_ns is None else now_ns
    changes = Changes([], [], [], [], [])
    for agent, home, logs in rows():
        if not _is_text(str(home)):
            continue
        if logs is None:
            _ask(connection, agent, home, changes)
            continue
        listing = list_files(home, logs)
        known = _folders(connection, agent.id, str(home))
        if not logs.whole:
            _watch(connection, agent, home, listing, known.get("*"), changes)
            continue
        for path, folder in listing.items():
            if not _is_text(path):
                continue
            signature = _signature(folder)
            if known.pop(path, None) != signature:
                _compare(connection, agent.id, home, path, folder, changes, now_ns)
                changes.folders.append((path, agent.id, str(home), folder.mtime_ns, signature))
        for path in known:
            _leave(connection, agent.id, str(home), path, changes)
    _leave_homes(connection, changes)
    changes.tasks.sort(key=lambda task: (task.mtime_ns, task.path))
    return changes


def seems_unchanged(connection: sqlite3.Connection, newest: int = NEWEST) -> bool:
    """Take a glance: say whether no folder and none of the `newest` logs changed since. An older log may have grown."""
    for agent, home, logs in rows():
        if logs is None or not _is_text(str(home)):
            continue
        values = (agent.id, str(home))
        folders = connection.execute(
            "SELECT path, mtime_ns, signature FROM folders WHERE agent = ? AND home = ?", values
        )
        known = {path: (mtime_ns, signature) for path, mtime_ns, signature in folders}
        if not logs.whole:
            if known.get("*", (0, ""))[1] != _watched(list_files(home, logs)):
                return False
        elif not known or any(_time_of(path) != mtime_ns for path, (mtime_ns, _) in known.items()):
            return False
    sql = "SELECT folder || '/' || name, size, mtime_ns FROM logs ORDER BY mtime_ns DESC LIMIT ?"
    stamps = connection.execute(sql, (newest,))
    return all(_stamp_of(path) == (size, mtime_ns) for path, size, mtime_ns in stamps)


def _leave(connection: sqlite3.Connection, agent: str, home: str, path: str, changes: Changes) -> None:
    changes.left.append((path, agent, home))
    names = connection.execute("SELECT name FROM logs WHERE folder = ? AND agent = ?", (path, agent))
    changes.gone.extend((agent, path, name) for (name,) in names)


def _leave_homes(connection: sqlite3.Connection, changes: Changes) -> None:
    """Take out what is known of agents' folders that were deleted; one that is only not asked for now stays."""
    for agent, home in connection.execute("SELECT DISTINCT agent, home FROM sessions").fetchall():
        if not os.path.lexists(home):
            for path in _folders(connection, agent, home):
                _leave(connection, agent, home, path, changes)
            here = connection.execute("SELECT path, inner FROM sessions WHERE agent = ? AND home = ?", (agent, home))
            changes.gone.extend((agent, path, f"\0{inner}") for path, inner in here)


def _is_text(path: str) -> bool:
    """Say whether the database can hold a path: one that is not UTF-8 is left to discovery."""
    return path.isascii() or not any("\ud800" <= character <= "\udfff" for character in path)


def _time_of(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns  # noqa: PTH116
    except OSError:
        return 0


def _stamp_of(path: str) -> tuple[int, int]:
    try:
        status = os.lstat(path)
    except OSError:
        return 0, 0
    return status.st_size, status.st_mtime_ns


def _folders(connection: sqlite3.Connection, agent: str, home: str) -> dict[str, str]:
    sql = "SELECT path, signature FROM folders WHERE agent = ? AND home = ?"
    return dict(connection.execute(sql, (agent, home)).fetchall())


def _signature(folder: Folder) -> str:
    # Not one of hashlib's: loading that takes as long as all of this.
    files = sorted(folder.files)
    text = "\n".join([f"{name}\t{size}\t{mtime}" for name, size, mtime in files])
    weight = sum([size for _, size, _ in files])
    return f"{folder.mtime_ns} {len(files)} {weight} {crc32(text.encode('utf-8', 'surrogateescape')):08x}"


def _compare(
    connection: sqlite3.Connection,
    agent: str,
    home: Path,
    path: str,
    folder: Folder,
    changes: Changes,
    now_ns: int,
) -> None:
    sql = "SELECT name, size, mtime_ns FROM logs WHERE folder = ? AND agent = ?"
    known = {name: (size, mtime) for name, size, mtime in connection.execute(sql, (path, agent))}
    for name, size, mtime_ns in folder.files:
        before = known.pop(name, None)
        if before == (size, mtime_ns) or not _is_text(name):
            continue
        now = Task(agent, str(home), f"{path}/{name}", size, mtime_ns)
        if before is not None and _only_grew(connection, now, before[0], now_ns):
            changes.grown.append(Grown(agent, now.path, size, mtime_ns))
        else:
            changes.tasks.append(now)
    changes.gone.extend((agent, path, name) for name in known)


def _only_grew(connection: sqlite3.Connection, stamp: Task, before: int, now_ns: int) -> bool:
    """Say whether a large log that is being written just now grew by a little, its beginning being what was read."""
    if not LARGE <= before < stamp.size < before + before // 8 or now_ns - stamp.mtime_ns > RESTING_MS * 1_000_000:
        return False
    sql = "SELECT prefix FROM sessions WHERE agent = ? AND path = ? AND inner = ''"
    row = connection.execute(sql, (stamp.agent, stamp.path)).fetchone()
    return row is not None and bool(row[0]) and row[0] == prefix_of(stamp.path, before)


def prefix_of(path: str, size: int) -> str:
    """Return a hash over the head of a file's first `size` bytes and over their end; empty when it is shorter."""
    from hashlib import blake2b

    try:
        with open_regular(Path(path)) as stream:
            head = stream.read(min(_HEAD, size))
            stream.seek(max(0, size - _TAIL))
            tail = stream.read(min(_TAIL, size))
    except (OSError, PassdownError):
        return ""
    whole = len(head) == min(_HEAD, size) and len(tail) == min(_TAIL, size)
    return blake2b(b"%d\n%b\n%b" % (size, head, tail), digest_size=16).hexdigest() if whole else ""


def _watch(
    connection: sqlite3.Connection,
    agent: Agent,
    home: Path,
    listing: dict[str, Folder],
    known: str | None,
    changes: Changes,
) -> None:
    """Ask the agent's reader for its sessions when anything in its folders changed."""
    signature = _watched(listing)
    if signature != known:
        _ask(connection, agent, home, changes)
        changes.folders.append(("*", agent.id, str(home), 0, signature))


def _watched(listing: dict[str, Folder]) -> str:
    # The time of a folder does not count: a database has files made and removed beside it all the time.
    return " ".join(_signature(folder._replace(mtime_ns=0)) for _, folder in sorted(listing.items()))


def _ask(connection: sqlite3.Connection, agent: Agent, home: Path, changes: Changes) -> None:
    sql = "SELECT path, inner, bytes, modified_at FROM sessions WHERE agent = ? AND home = ?"
    known = {(row[0], row[1]): tuple(row[2:]) for row in connection.execute(sql, (agent.id, str(home)))}
    for ref in _found(agent, home):
        if not _is_text(ref.path + ref.inner):
            continue
        modified = ref.modified_at or ref.started_at or 0
        if known.pop((ref.path, ref.inner), None) != (ref.bytes, modified):
            changes.tasks.append(Task(agent.id, str(home), ref.path, ref.bytes, modified * 1_000_000, ref))
    changes.gone.extend((agent.id, path, f"\0{inner}") for path, inner in known)


def _found(agent: Agent, home: Path) -> Iterator[SessionRef]:
    try:
        yield from sessions_of(agent).find(home)
    except (OSError, PassdownError):
        return
