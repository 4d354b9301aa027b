"""What was decided of a whole set, in a file that is looked up: which trajectories are dropped, why, and for which."""

from __future__ import annotations

import contextlib
import hashlib
import sqlite3
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from passdown.data.filters.minhash import Entry, near_duplicates
from passdown.io.files import lock
from passdown.io.sqlite import open_database

_TABLES = """
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
PRAGMA temp_store = FILE;
CREATE TABLE gone (key TEXT PRIMARY KEY, reason TEXT NOT NULL, kept TEXT NOT NULL) WITHOUT ROWID;
CREATE TEMP TABLE candidate (content, family, rank0, rank1, rank2, rank3, key, signature);
CREATE TEMP TABLE first (number INTEGER PRIMARY KEY);
"""
_BY_CONTENT = "SELECT rowid, content, key FROM candidate ORDER BY content, rank0, rank1, rank2, rank3, key"
_BY_GROUP = """
SELECT family, rank0, rank1, rank2, rank3, key, signature FROM candidate JOIN first ON candidate.rowid = number
ORDER BY family
"""
_FOLLOW = """
UPDATE gone SET kept = (SELECT next.kept FROM gone AS next WHERE next.key = gone.kept)
WHERE reason = 'duplicate' AND kept IN (SELECT key FROM gone)
"""
"""A copy of one that is a near-duplicate itself stands back for the one that is kept in the end."""


Decision = tuple[str, str]
"""The reason why a trajectory is dropped, and the key of the one that is kept instead."""


def write_decisions(path: Path, candidates: Iterable[tuple[str, Entry]], least: float) -> None:
    """Decide, and write what is dropped: of one content all but the first by rank, and of near-duplicates likewise.

    Candidates (the hash of the content, what near-duplicates are found by) wait on the disk; a kilobyte for each of one
    group is held. A copy with the very key of the kept one stays: by their key both would go.
    """
    staged = path.with_name(f".{path.name}.tmp")
    with lock(path.with_name(f".{path.name}.lock")):
        staged.unlink(missing_ok=True)
        with contextlib.closing(sqlite3.connect(staged, isolation_level=None)) as book:
            book.executescript(_TABLES)
            book.execute("BEGIN")
            rows = ((content, one.group, *one.rank[:4], one.key, one.signature) for content, one in candidates)
            book.executemany("INSERT INTO candidate VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)
            _decide(book, least)
            book.execute("COMMIT")
        staged.replace(path)


def _decide(book: sqlite3.Connection, least: float) -> None:
    def drop(reason: str, pairs: Iterable[tuple[str, str]]) -> None:
        book.executemany("INSERT OR REPLACE INTO gone VALUES (?, ?, ?)", ((key, reason, kept) for key, kept in pairs))

    for _, same in groupby(book.execute(_BY_CONTENT), key=itemgetter(1)):
        (number, _, kept), *copies = same
        book.execute("INSERT INTO first VALUES (?)", (number,))
        drop("duplicate", [(key, kept) for _, _, key in copies if key != kept])
    for group, members in groupby(book.execute(_BY_GROUP), key=itemgetter(0)):
        entries = (
            Entry(key=key, group=group, rank=(bool(a), bool(b), bool(c), d, key), signature=signature)
            for _, a, b, c, d, key, signature in members
        )
        drop("near_duplicate", near_duplicates(entries, least).items())
    book.execute(_FOLLOW)


class Decisions:
    """What was decided, looked up on the disk."""

    def __init__(self, book: sqlite3.Connection) -> None:
        self._book = book

    def of(self, key: str) -> Decision | None:
        """Return why the trajectory of this key is dropped, None when it is kept."""
        found: Decision | None = self._book.execute("SELECT reason, kept FROM gone WHERE key = ?", (key,)).fetchone()
        return found

    def __iter__(self) -> Iterator[tuple[str, str, str]]:
        """Yield key, reason and the kept one's key of everything that is dropped, by key."""
        yield from self._book.execute("SELECT key, reason, kept FROM gone ORDER BY key")

    def mark(self) -> str:
        """Return a hash of all of it."""
        digest = hashlib.sha256()
        for row in self:
            digest.update("\x1e".join((*row, "")).encode())
        return digest.hexdigest()


@contextlib.contextmanager
def open_decisions(path: Path) -> Iterator[Decisions]:
    """Open what `write_decisions` wrote. Raises `FormatError` for another file."""
    with open_database(path) as book:
        yield Decisions(book)
