"""Bring the index up to date: one writer at a time, and a kill at any moment leaves it usable."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from passdown.errors import ConflictError, PassdownError
from passdown.io.files import lock
from passdown.sessions.index.changes import SETTLED_NS, Changes, Task, find_changes
from passdown.sessions.index.check import note_check
from passdown.sessions.index.schema import DAMAGED, PART_BITS, anew, index_path, is_broken, remove, writing

if TYPE_CHECKING:
    from passdown.sessions.index.fold import Row, Text

Progress = Callable[[int, int], None]
"""Told how many bytes of logs are done, and of how many."""

ALONE = 48 << 20
"""Bytes of changed logs up to which they are read here, without processes for it."""

_COMMIT_EVERY = 1.0
_DEAD = 20_000


class Refreshed(NamedTuple):
    """What bringing up to date came to. `behind`: it could not be done, the index tells of an earlier time."""

    read: int = 0
    gone: int = 0
    troubled: int = 0
    behind: bool = False
    notes: tuple[str, ...] = ()


def refresh(
    *, path: Path | None = None, progress: Progress | None = None, processes: int = 0, damaged: bool = False
) -> Refreshed:
    """Read what is new or changed into the index, and take out what is gone; a `damaged` one is made anew first.

    While another process does that, or where the folder cannot be written, nothing is done and `behind` says so.
    """
    path = index_path() if path is None else path
    processes = processes or _processors()
    try:
        with lock(path.with_suffix(".lock")):
            if damaged:
                remove(path)
            done = _refresh(path, progress, processes)
            done = done._replace(notes=(DAMAGED, *done.notes)) if damaged else done
            note_check(path)
            return done
    except ConflictError:
        note = "another passdown is bringing the index of sessions up to date; the newest may be missing here"
        return Refreshed(behind=True, notes=(note,))
    except (OSError, sqlite3.Error, PassdownError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        return Refreshed(behind=True, notes=(f"the index of sessions cannot be written: {reason}",))


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _refresh(path: Path, progress: Progress | None, processes: int) -> Refreshed:
    with writing(path) as (connection, note):
        try:
            done = _Writer(connection, progress, processes).run()
            return done._replace(notes=(note, *done.notes) if note else done.notes)
        except sqlite3.DatabaseError as error:
            if not is_broken(error):
                raise
    connection, note = anew(path)
    with closing(connection):
        done = _Writer(connection, progress, processes).run()
    return done._replace(notes=(note, *done.notes))


class _Writer:
    def __init__(self, connection: sqlite3.Connection, progress: Progress | None, processes: int) -> None:
        self._database = connection
        self._progress = progress
        self._processes = processes
        self._session = 0
        self._open: dict[Task, tuple[int, int, int]] = {}
        self._dead = 0
        self._committed = time.monotonic()

    def run(self) -> Refreshed:
        began = time.time_ns()
        changes = find_changes(self._database, now_ns=began)
        if not any(changes):
            return Refreshed()
        self._begin()
        self._clear_leftovers()
        for agent, folder, name in changes.gone:
            self._forget(agent, folder, name)
        for grown in changes.grown:
            self._database.execute(
                "UPDATE sessions SET modified_at = max(modified_at, ?), bytes = ? WHERE agent = ? AND path = ?",
                (grown.mtime_ns // 1_000_000, grown.size, grown.agent, grown.path),
            )
        troubled = self._read(changes.tasks, began)
        self._settle(changes, began)
        self._database.execute("COMMIT")
        self._tidy()
        notes = (f"{troubled} sessions could not be read",) if troubled else ()
        return Refreshed(len(changes.tasks), len(changes.gone), troubled, notes=notes)

    def _begin(self) -> None:
        self._database.execute("BEGIN IMMEDIATE")
        newest = (
            "SELECT max(coalesce((SELECT max(id) FROM sessions), 0), coalesce((SELECT max(session) FROM parts), 0))"
        )
        self._session = max(self._session, self._database.execute(newest).fetchone()[0])

    def _read(self, tasks: list[Task], began: int) -> int:
        from passdown.sessions.index.workers import read_all

        total, done, troubled = sum(task.size for task in tasks), 0, 0
        # One more than there are processors: one of them most often waits to hand over what it read.
        several = self._processes + (self._processes > 1) if total > ALONE else 1
        for task, found in read_all(tasks, several):
            if isinstance(found, list):
                self._say(task, found)
                continue
            self._place(task, found, began)
            troubled += found is not None and bool(found.trouble)
            done += task.size
            if self._progress is not None:
                self._progress(done, total)
            if time.monotonic() - self._committed > _COMMIT_EVERY:
                self._database.execute("COMMIT")
                self._database.execute("BEGIN IMMEDIATE")
                self._committed = time.monotonic()
        return troubled

    def _say(self, task: Task, texts: list[Text]) -> None:
        session, part, place = self._open.get(task) or self._new_part()
        rows = []
        words = []
        for key, text in enumerate(texts, (part << PART_BITS) + place):
            kind, at, offset, line, shown, searched = text
            rows.append((key, kind, at, offset, line, shown))
            words.append((key, searched or shown))
        place += len(texts)
        self._database.executemany("INSERT INTO said VALUES(?, ?, ?, ?, ?, ?)", rows)
        self._database.executemany("INSERT INTO words(rowid, text) VALUES(?, ?)", words)
        self._open[task] = session, part, place

    def _new_part(self) -> tuple[int, int, int]:
        self._session += 1
        part = self._database.execute("INSERT INTO parts(session) VALUES(?)", (self._session,)).lastrowid
        assert part is not None
        return self._session, part, 0

    def _place(self, task: Task, row: Row | None, began: int) -> None:
        """Put a session in the place of what was known of it."""
        inner = task.ref.inner if task.ref is not None else ""
        self._forget_session(task.agent, task.path, inner)
        opened = self._open.pop(task, None)
        if row is None and opened is not None:  # the worker died half-way
            self._forget_part(opened[1])
        if row is not None:
            session = opened[0] if opened is not None else self._new_part()[0]
            self._insert(session, row)
        if task.ref is None:
            folder, _, name = task.path.rpartition("/")
            settled = task.mtime_ns if task.mtime_ns < began - SETTLED_NS else 0
            self._database.execute(
                "INSERT OR REPLACE INTO logs VALUES(?, ?, ?, ?, ?)", (folder, name, task.agent, task.size, settled)
            )

    def _insert(self, session: int, row: Row) -> None:
        *values, spent, began = row
        names = row._fields[: len(values)]
        texts = (value.encode("utf-8", "replace").decode() if isinstance(value, str) else value for value in values)
        self._database.execute(
            f"INSERT OR REPLACE INTO sessions(id, {', '.join(names)}) VALUES({', '.join('?' * (len(names) + 1))})",
            (session, *texts),
        )
        if spent is not None:
            self._database.execute(
                "INSERT OR REPLACE INTO spent VALUES(?, ?, ?, ?, ?)",
                (session, began, row.bytes, spent.tally, spent.keys),
            )
            self._database.execute("INSERT OR REPLACE INTO calls VALUES(?, ?)", (session, spent.calls))

    def _forget(self, agent: str, folder: str, name: str) -> None:
        if name.startswith("\0"):
            self._forget_session(agent, folder, name[1:])
            return
        self._forget_session(agent, f"{folder}/{name}", "")
        self._database.execute("DELETE FROM logs WHERE folder = ? AND name = ? AND agent = ?", (folder, name, agent))

    def _forget_session(self, agent: str, path: str, inner: str) -> None:
        sql = "SELECT id FROM sessions WHERE agent = ? AND path = ? AND inner = ?"
        for (session,) in self._database.execute(sql, (agent, path, inner)).fetchall():
            for (part,) in self._database.execute("SELECT id FROM parts WHERE session = ?", (session,)).fetchall():
                self._forget_part(part)
            for table, key in (("sessions", "id"), ("spent", "session"), ("calls", "session")):
                self._database.execute(f"DELETE FROM {table} WHERE {key} = ?", (session,))  # noqa: S608

    def _forget_part(self, part: int) -> None:
        # The words stay behind without a text, which every question passes over, until there are too many of them.
        first = part << PART_BITS
        ended = self._database.execute("DELETE FROM said WHERE id >= ? AND id < ?", (first, first + (1 << PART_BITS)))
        self._dead += ended.rowcount
        self._database.execute("DELETE FROM parts WHERE id = ?", (part,))

    def _clear_leftovers(self) -> None:
        """Take out the texts of sessions whose reading a kill cut short."""
        sql = "SELECT id FROM parts WHERE session NOT IN (SELECT id FROM sessions)"
        for (part,) in self._database.execute(sql).fetchall():
            self._forget_part(part)

    def _settle(self, changes: Changes, began: int) -> None:
        """Write down the folders as they are now, but for those in which something may still be changing unseen."""
        unsettled = {task.path.rpartition("/")[0] for task in changes.tasks if task.mtime_ns >= began - SETTLED_NS}
        unsettled |= {grown.path.rpartition("/")[0] for grown in changes.grown}
        for folder, agent, home, mtime_ns, signature in changes.folders:
            signature = "" if folder in unsettled else signature
            self._database.execute(
                "INSERT OR REPLACE INTO folders VALUES(?, ?, ?, ?, ?)", (folder, agent, home, mtime_ns, signature)
            )
        self._database.executemany("DELETE FROM folders WHERE path = ? AND agent = ? AND home = ?", changes.left)

    def _tidy(self) -> None:
        row = self._database.execute("SELECT value FROM facts WHERE name = 'dead'").fetchone()
        dead = self._dead + (row[0] if row else 0)
        if dead > _DEAD and dead > self._database.execute("SELECT count(*) FROM said").fetchone()[0]:
            self._index_again()
            dead = 0
        if self._dead or dead == 0:
            self._database.execute("INSERT OR REPLACE INTO facts VALUES('dead', ?)", (dead,))

    def _index_again(self) -> None:
        from passdown.sessions.index.words import searchable

        self._database.execute("BEGIN IMMEDIATE")
        self._database.execute("INSERT INTO words(words) VALUES('delete-all')")
        texts: Iterable[tuple[int, str]] = self._database.execute("SELECT id, text FROM said")
        rows = ((key, searchable(text)) for key, text in texts)
        self._database.executemany("INSERT INTO words(rowid, text) VALUES(?, ?)", rows)
        self._database.execute("COMMIT")
