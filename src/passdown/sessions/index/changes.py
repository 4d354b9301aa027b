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
from passdown.sessions.index.stores import Listing, Stamp, list_files, rows

if TYPE_CHECKING:
    from passdown.model.session import SessionRef

LARGE = 16 << 20
"""Bytes from which on a log that is being written is read again only when it grew by an eighth, or rests."""

RESTING_MS = 120_000
SETTLED_NS = 20_000_000
"""A file written so shortly before it was looked at may have changed since without a change of its time."""

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
        if logs is None:
            _ask(connection, agent, home, changes)
            continue
        listing = list_files(home, logs)
        known = _folders(connection, agent.id, str(home))
        if not logs.whole:
            _watch(connection, agent, home, listing, known.get("*"), changes)
            continue
        by_folder: dict[str, list[Stamp]] = {folder: [] for folder in listing.folders}
        for stamp in listing.files:
            by_folder[os.path.dirname(stamp.path)].append(stamp)  # noqa: PTH120 - for each of ten thousand
        for folder, stamps in by_folder.items():
            signature = _signature(stamps, listing.folders[folder])
            if known.pop(folder, None) != signature:
                _compare(connection, agent.id, home, folder, stamps, changes, now_ns)
                changes.folders.append((folder, agent.id, str(home), listing.folders[folder], signature))
        for folder in known:
            changes.left.append((folder, agent.id, str(home)))
            names = _rows(connection, "SELECT name FROM logs WHERE folder = ? AND agent = ?", folder, agent.id)
            changes.gone.extend((agent.id, folder, name) for (name,) in names)
    changes.tasks.sort(key=lambda task: (task.mtime_ns, task.path))
    return changes


def _folders(connection: sqlite3.Connection, agent: str, home: str) -> dict[str, str]:
    sql = "SELECT path, signature FROM folders WHERE agent = ? AND home = ?"
    return dict(connection.execute(sql, (agent, home)).fetchall())


def _rows(connection: sqlite3.Connection, sql: str, *values: object) -> list[tuple[str, ...]]:
    return connection.execute(sql, values).fetchall()


def _signature(stamps: list[Stamp], mtime_ns: int) -> str:
    # Not one of hashlib's: loading that takes as long as all of this.
    text = "\n".join([f"{path}\t{size}\t{mtime}" for path, size, mtime in sorted(stamps)])
    newest = max((stamp.mtime_ns for stamp in stamps), default=0)
    weight = sum(stamp.size for stamp in stamps)
    return f"{mtime_ns} {len(stamps)} {weight} {newest} {crc32(text.encode('utf-8', 'surrogateescape')):08x}"


def _compare(
    connection: sqlite3.Connection,
    agent: str,
    home: Path,
    folder: str,
    stamps: list[Stamp],
    changes: Changes,
    now_ns: int,
) -> None:
    sql = "SELECT name, size, mtime_ns FROM logs WHERE folder = ? AND agent = ?"
    known = {name: (size, mtime) for name, size, mtime in connection.execute(sql, (folder, agent))}
    for stamp in stamps:
        before = known.pop(stamp.path[len(folder) + 1 :], None)
        if before == (stamp.size, stamp.mtime_ns):
            continue
        if before is not None and _only_grew(connection, agent, stamp, before[0], now_ns):
            changes.grown.append(Grown(agent, stamp.path, stamp.size, stamp.mtime_ns))
        else:
            changes.tasks.append(Task(agent, str(home), stamp.path, stamp.size, stamp.mtime_ns))
    changes.gone.extend((agent, folder, name) for name in known)


def _only_grew(connection: sqlite3.Connection, agent: str, stamp: Stamp, before: int, now_ns: int) -> bool:
    """Say whether a large log that is being written just now grew by a little, its beginning being what was read."""
    if not LARGE <= before < stamp.size < before + before // 8 or now_ns - stamp.mtime_ns > RESTING_MS * 1_000_000:
        return False
    sql = "SELECT prefix FROM sessions WHERE agent = ? AND path = ? AND inner = ''"
    row = connection.execute(sql, (agent, stamp.path)).fetchone()
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
    connection: sqlite3.Connection, agent: Agent, home: Path, listing: Listing, known: str | None, changes: Changes
) -> None:
    """Ask the agent's reader for its sessions when anything in its folders changed."""
    signature = _signature(listing.files, 0)
    if signature != known:
        _ask(connection, agent, home, changes)
        changes.folders.append(("*", agent.id, str(home), 0, signature))


def _ask(connection: sqlite3.Connection, agent: Agent, home: Path, changes: Changes) -> None:
    sql = "SELECT path, inner, bytes, modified_at FROM sessions WHERE agent = ? AND home = ?"
    known = {(row[0], row[1]): tuple(row[2:]) for row in connection.execute(sql, (agent.id, str(home)))}
    for ref in _found(agent, home):
        modified = ref.modified_at or ref.started_at or 0
        if known.pop((ref.path, ref.inner), None) != (ref.bytes, modified):
            changes.tasks.append(Task(agent.id, str(home), ref.path, ref.bytes, modified * 1_000_000, ref))
    changes.gone.extend((agent.id, path, f"\0{inner}") for path, inner in known)


def _found(agent: Agent, home: Path) -> Iterator[SessionRef]:
    try:
        yield from sessions_of(agent).find(home)
    except (OSError, PassdownError):
        return
