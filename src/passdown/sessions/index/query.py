"""Questions to the index. They load no reader, wait for nobody and change nothing."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from passdown.sessions.index.schema import PART_BITS
from passdown.sessions.index.words import question

if TYPE_CHECKING:
    from passdown.model.session import SessionRef

HITS = 3
"""Most texts shown of one session."""

_IN_A_ROW = 16
_COLUMNS = (
    "agent, session_id, path, bytes, started_at, coalesce(ended_at, nullif(modified_at, 0)) AS ended_at, cwd, branch, "
    "title, tokens, human_messages, last_exit"
)
_REF = (
    "agent, path, session_id, inner, bytes, started_at, modified_at, cwd, ref_branch, ref_title, parent_id, "
    "parent_kind, commit_id, remote"
)


class Filter(NamedTuple):
    """Which sessions are asked for; None is any. `homes` are the agents' folders, `since` is in milliseconds."""

    homes: Collection[str]
    agents: Collection[str] | None = None
    ids: Collection[int] | None = None
    branch: str = ""
    since: int | None = None


class Hit(NamedTuple):
    """A text that was found: who said it (`human`, `agent`; `ran` for a command), when, and where in the log."""

    kind: str
    at: int | None
    offset: int
    line: int
    text: str


class Spent(NamedTuple):
    """What is kept of a session's cost. `current` is False where its log grew since, or its cost could not be read."""

    row: int
    session_id: str
    path: str
    current: bool
    modified_at: int
    tally: bytes
    keys: bytes


class Found(NamedTuple):
    """A session with what was found in it."""

    session: dict[str, Any]
    hits: tuple[Hit, ...]


def folders_of_sessions(database: sqlite3.Connection, asked: Filter) -> dict[str, list[int]]:
    """Return the sessions' row numbers by the folder they worked in."""
    where, values = _where(asked)
    folders: dict[str, list[int]] = {}
    for cwd, row in database.execute(f"SELECT cwd, id FROM sessions WHERE {where}", values):  # noqa: S608
        folders.setdefault(cwd, []).append(row)
    return folders


def folders_that_name_a_repository(database: sqlite3.Connection) -> set[str]:
    """Return the folders of which some session told a commit or a remote."""
    sql = "SELECT DISTINCT cwd FROM sessions WHERE commit_id != '' OR remote != ''"
    return {cwd for (cwd,) in database.execute(sql)}


def list_sessions(database: sqlite3.Connection, asked: Filter, limit: int) -> tuple[list[dict[str, Any]], int]:
    """Return the newest sessions asked for, and how many there are in all."""
    where, values = _where(asked)
    count = database.execute(f"SELECT count(*) FROM sessions WHERE {where}", values).fetchone()[0]  # noqa: S608
    sql = f"SELECT {_COLUMNS} FROM sessions WHERE {where} ORDER BY modified_at DESC, agent, session_id, path LIMIT ?"  # noqa: S608
    return [_named(row) for row in database.execute(sql, (*values, limit))], count


def search(database: sqlite3.Connection, words: str, asked: Filter, limit: int) -> tuple[list[Found], bool]:
    """Return the sessions in which the words were said, those that were indexed last first, and whether there are more.

    Raises `UsageError` when there is no word in `words`.
    """
    found = _matching(database, question(words), asked, limit + 1)
    sql = f"SELECT {_COLUMNS} FROM sessions WHERE id = ?"  # noqa: S608
    results = []
    for session, keys in list(found.items())[:limit]:
        marks = ", ".join("?" * len(keys))
        hits = database.execute(
            f"SELECT kind, at, place, line, text FROM said WHERE id IN ({marks}) ORDER BY id",  # noqa: S608
            keys,
        )
        results.append(Found(_named(database.execute(sql, (session,)).fetchone()), tuple(Hit(*hit) for hit in hits)))
    return results, len(found) > limit


def sessions_saying(database: sqlite3.Connection, words: str, asked: Filter) -> set[int]:
    """Return the row numbers of all the sessions in which the words were said. Raises `UsageError` as `search` does."""
    return set(_matching(database, question(words), asked, None))


def _matching(database: sqlite3.Connection, expression: str, asked: Filter, limit: int | None) -> dict[int, list[int]]:
    """Return, by session, the row numbers of texts that match; of a session with many of them only the first few."""
    where, values = _where(asked)
    sql = f"SELECT id, session FROM parts WHERE session IN (SELECT id FROM sessions WHERE {where})"  # noqa: S608
    owners: dict[int, int] = dict(database.execute(sql, values))
    found: dict[int, list[int]] = {}
    below = 1 << 62
    while True:
        part, in_a_row = -1, 0
        for key in _keys(database, expression, below):
            in_a_row = in_a_row + 1 if key >> PART_BITS == part else 0
            part = key >> PART_BITS
            if in_a_row > _IN_A_ROW:  # go on behind this session
                below = part << PART_BITS
                break
            if (session := owners.get(part)) is None:
                continue
            if limit is not None and session not in found and len(found) >= limit:
                return found
            keys = found.setdefault(session, [])
            if len(keys) < HITS:
                keys.append(key)
        else:
            return found


def _keys(database: sqlite3.Connection, expression: str, below: int) -> Iterator[int]:
    sql = "SELECT rowid FROM words WHERE words MATCH ? AND rowid < ? ORDER BY rowid DESC"
    for (key,) in database.execute(sql, (expression, below)):
        yield key


def known_refs(database: sqlite3.Connection, agent: str, home: str) -> dict[str, SessionRef]:
    """Return what discovery told of every log of one agent that is one session, by path."""
    sql = f"SELECT {_REF} FROM sessions WHERE agent = ? AND home = ? AND inner = ''"  # noqa: S608
    return {row[1]: ref_of(row) for row in database.execute(sql, (agent, home))}


def known_stamps(database: sqlite3.Connection, agent: str) -> dict[str, tuple[int, int]]:
    """Return size and time of every log of one agent as it was when it was read, by path."""
    sql = "SELECT folder || '/' || name, size, mtime_ns FROM logs WHERE agent = ?"
    return {path: (size, mtime) for path, size, mtime in database.execute(sql, (agent,))}


def refs_of(database: sqlite3.Connection, ids: Collection[int]) -> dict[int, SessionRef]:
    """Return the references of the sessions with these row numbers."""
    sql = f"SELECT {_REF}, id FROM sessions WHERE id IN (SELECT value FROM json_each(?))"  # noqa: S608
    return {row[-1]: ref_of(row[:-1]) for row in database.execute(sql, (f"[{','.join(map(str, ids))}]",))}


def spent(database: sqlite3.Connection, asked: Filter) -> Iterator[Spent]:
    """Yield what is kept of the sessions' cost, oldest session first."""
    where, values = _where(asked)
    columns = "id, session_id, path, coalesce(sessions.bytes = spent.bytes, 0), modified_at, tally, keys"
    sql = f"SELECT {columns} FROM sessions LEFT JOIN spent ON session = id WHERE {where}"  # noqa: S608
    sql += " ORDER BY coalesce(began, started_at, 0), agent, session_id"
    return map(Spent._make, database.execute(sql, values))


def lines_of_calls(database: sqlite3.Connection, row: int) -> bytes:
    """Return each call's numbers of one session, as they are kept."""
    found = database.execute("SELECT lines FROM calls WHERE session = ?", (row,)).fetchone()
    return found[0] if found else b"\x90"


def refs_as_found(database: sqlite3.Connection, asked: Filter) -> dict[int, SessionRef]:
    """Return the references of the sessions asked for, with the beginning that discovery tells, by row number."""
    where, values = _where(asked)
    columns = _REF.replace("bytes", "sessions.bytes").replace("started_at", "nullif(began, 0)")
    sql = f"SELECT {columns}, id FROM sessions LEFT JOIN spent ON session = id WHERE {where}"  # noqa: S608
    return {row[-1]: ref_of(row[:-1]) for row in database.execute(sql, values)}


def ref_of(row: tuple[Any, ...]) -> SessionRef:
    """Return the reference that a row's fields make."""
    from passdown.model.session import SessionRef

    agent, path, session_id, inner, size, started, modified, cwd, branch, title, parent, kind, commit, remote = row
    return SessionRef(
        agent=agent, path=path, session_id=session_id, inner=inner, bytes=size, started_at=started,
        modified_at=modified or None, cwd=cwd, branch=branch, title=title, parent_id=parent, parent_kind=kind,
        commit=commit, remote=remote,
    )  # fmt: skip


def _where(asked: Filter) -> tuple[str, list[object]]:
    parts, values = [], list[object]()
    for column, wanted in (("home", asked.homes), ("agent", asked.agents), ("id", asked.ids)):
        if wanted is not None:
            # One text instead of a variable for each: SQLite allows no more than some thousands.
            if column == "id":
                parts.append("id IN (SELECT value FROM json_each(?))")
                values.append("[" + ",".join(map(str, wanted)) + "]")
            else:
                parts.append(f"{column} IN ({', '.join('?' * len(wanted))})")
                values += wanted
    if asked.branch:
        parts.append("(branch = ? OR instr(char(10) || branches || char(10), char(10) || ? || char(10)))")
        values += [asked.branch, asked.branch]
    if asked.since is not None:
        parts.append("modified_at >= ?")
        values.append(asked.since)
    return " AND ".join(parts) or "1", values


def _named(row: tuple[Any, ...]) -> dict[str, Any]:
    names = (
        "agent", "session_id", "path", "bytes", "started_at", "ended_at", "cwd", "branch", "title", "tokens",
        "human_messages", "last_exit",
    )  # fmt: skip
    return dict(zip(names, row, strict=True))
