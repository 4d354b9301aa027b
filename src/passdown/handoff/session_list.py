"""List and search the sessions of this machine, by the index of them, brought up to date first."""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple, TypeVar

from passdown.errors import ConflictError, UsageError
from passdown.model.pattern import lazy_pattern
from passdown.redact.neutralise import one_line
from passdown.sessions.index.check import is_current
from passdown.sessions.index.query import (
    Filter,
    Found,
    folders_of_sessions,
    folders_that_name_a_repository,
    list_sessions,
    refs_of,
    search,
    sessions_saying,
)
from passdown.sessions.index.schema import index_path, is_broken, reading
from passdown.sessions.index.stores import databases_in, rows

Progress = Callable[[int, int], None]
Answer = TypeVar("Answer")

_AGO = lazy_pattern(r"(\d{1,6})\s*([smhdw])")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}


class Wanted(NamedTuple):
    """Which sessions are wanted. `repository` is a folder or a part of a folder's path; empty is the one around."""

    agent: str = ""
    everywhere: bool = False
    repository: str = ""
    branch: str = ""
    since: str = ""
    text: str = ""
    limit: int = 20


class Listed(NamedTuple):
    """The sessions as rows, newest first, how many older ones were left out, and what should be said about it."""

    rows: list[dict[str, Any]]
    left_out: int
    notes: tuple[str, ...]


class Searched(NamedTuple):
    """The sessions in which the words were found, with what was found; `more` says that others were left out."""

    found: list[Found]
    more: bool
    notes: tuple[str, ...]


def listed(folder: Path, wanted: Wanted, *, progress: Progress | None = None) -> Listed:
    """Return the newest sessions. Raises `UsageError` for an unknown agent or a time that is none."""

    def ask(database: sqlite3.Connection, notes: tuple[str, ...]) -> Listed:
        found, count = list_sessions(database, filter_of(database, folder, wanted), wanted.limit)
        return Listed(found, count - len(found), (*notes, *_unlisted(database, wanted.agent)))

    return answer(ask, progress)


def _unlisted(database: sqlite3.Connection, agent: str) -> Iterator[str]:
    """Say which agents' databases have no session in the index because they cannot be read."""
    sql = "SELECT DISTINCT path FROM sessions WHERE inner <> ''"
    known = {str(path) for (path,) in database.execute(sql)}
    for row, home, logs in rows():
        if agent and row.id != _agent_id(agent):
            continue
        if any(str(path) not in known for path in databases_in(home, logs)):
            from passdown.sessions.missing import unreadable_databases  # here: a list needs no reader

            yield from unreadable_databases(row, home, known)


def searched(folder: Path, words: str, wanted: Wanted, *, progress: Progress | None = None) -> Searched:
    """Return the sessions in which the words were said or run. Raises `UsageError` when there is no word in `words`."""

    def ask(database: sqlite3.Connection, notes: tuple[str, ...]) -> Searched:
        found, more = search(database, words, filter_of(database, folder, wanted), wanted.limit)
        return Searched(found, more, notes)

    return answer(ask, progress)


def answer(
    ask: Callable[[sqlite3.Connection, tuple[str, ...]], Answer], progress: Progress | None, *, exact: bool = False
) -> Answer:
    """Ask an index that is up to date; one that turns out to be damaged is made anew, and asked again.

    `exact` is for sums: a log that was taken up again after long counts at once, not from the next answer on.
    """
    try:
        with _up_to_date(progress, exact=exact) as (database, notes):
            return ask(database, notes)
    except sqlite3.Error as error:
        from passdown.sessions.index.fill import refresh

        damaged = is_broken(error)
        done = refresh(progress=progress, damaged=damaged)
    try:
        with reading(index_path()) as again:
            if again is not None:
                return ask(again, done.notes)
    except sqlite3.Error as error:
        raise _unreadable(str(error)) from error
    raise _unreadable("; ".join(done.notes))


def _unreadable(reason: str) -> ConflictError:
    return ConflictError(
        f"the index of sessions cannot be read: {reason}", where=str(index_path()),
        next_step="Delete it; it is made again from the agents' logs.",
    )  # fmt: skip


@contextlib.contextmanager
def _up_to_date(
    progress: Progress | None, *, exact: bool = False
) -> Iterator[tuple[sqlite3.Connection, tuple[str, ...]]]:
    path = index_path()
    with reading(path) as database:
        if database is not None and is_current(database, path, exact=exact):
            yield database, ()
            return
    from passdown.sessions.index.fill import refresh

    done = refresh(progress=progress)
    with reading(path) as database:
        if database is not None:
            yield database, done.notes
            return
    with _elsewhere(progress) as database:
        note = "it is made for this question alone, which takes longer"
        yield database, (*done.notes, note)


@contextlib.contextmanager
def _elsewhere(progress: Progress | None) -> Iterator[sqlite3.Connection]:
    """Make an index for one question, where the user's own cannot be written."""
    from tempfile import TemporaryDirectory

    from passdown.sessions.index.fill import refresh

    with TemporaryDirectory(prefix="passdown-") as place:
        path = Path(place) / "passdown" / "index.sqlite"
        done = refresh(path=path, progress=progress)
        with reading(path) as database:
            if database is None:
                raise ConflictError(
                    "; ".join(done.notes) or "there is no index of sessions", where=str(path),
                    next_step="Set XDG_DATA_HOME to a folder that can be written.",
                )  # fmt: skip
            yield database


def filter_of(database: sqlite3.Connection, folder: Path, wanted: Wanted) -> Filter:
    """Return which rows of the index are wanted, as seen from `folder`."""
    homes = {str(home) for _, home, _ in rows()}
    agents = {_agent_id(wanted.agent)} if wanted.agent else None
    asked = Filter(homes, agents, None, wanted.branch, moment(wanted.since) if wanted.since else None)
    ids: set[int] | None = None
    if wanted.repository and not Path(wanted.repository).is_dir():
        ids = _by_name(folders_of_sessions(database, asked), wanted.repository)
    elif wanted.repository or not wanted.everywhere:
        ids = _of_repository(database, asked, Path(wanted.repository) if wanted.repository else folder)
    if wanted.text:
        saying = sessions_saying(database, wanted.text, asked._replace(ids=ids))
        ids = saying if ids is None else ids & saying
    return asked._replace(ids=ids)


def _agent_id(name: str) -> str:
    from passdown.sessions.read import agent_called

    return agent_called(name).id


def _by_name(folders: dict[str, list[int]], name: str) -> set[int]:
    """Take the sessions of folders one part of whose path, or several on end, are called so."""
    wanted = PurePosixPath(name.replace("\\", "/").lower()).parts
    taken: set[int] = set()
    for cwd, ids in folders.items():
        parts = PurePosixPath(cwd.replace("\\", "/").lower()).parts
        if any(parts[start : start + len(wanted)] == wanted for start in range(len(parts))):
            taken.update(ids)
    return taken


def _of_repository(database: sqlite3.Connection, asked: Filter, folder: Path) -> set[int]:
    """Take the sessions of one repository, as discovery does; git is asked only about those whose folder is gone."""
    from passdown.sessions.here import look_around
    from passdown.sessions.place import Places

    here = look_around(folder)
    if here is None:
        from passdown.handoff.place import find_root

        here = look_around(find_root(folder))
    if here is None:
        return _asking_git(database, asked, folder)
    places = Places(here)
    taken: set[int] = set()
    gone: dict[str, list[int]] = {}
    for cwd, ids in folders_of_sessions(database, asked).items():
        place = places.of(cwd)
        if place in ("here", "worktree"):
            taken.update(ids)
        elif place == "gone":
            gone[cwd] = ids
    return taken | (_moved_here(database, gone, here.root) if gone else set())


def _moved_here(database: sqlite3.Connection, gone: dict[str, list[int]], root: str) -> set[int]:
    """Take those that worked in a folder which is gone and belong here all the same."""
    name = PurePosixPath(root).name
    named = folders_that_name_a_repository(database)
    telling = [cwd for cwd in gone if cwd in named or PurePosixPath(cwd.replace("\\", "/")).name == name]
    return _taken(refs_of(database, [row for cwd in telling for row in gone[cwd]]), Path(root)) if telling else set()


def _taken(refs: dict[int, Any], root: Path) -> set[int]:
    from passdown.repository.snapshot import snapshot
    from passdown.sessions.discover import sessions_in

    kept, _ = sessions_in(tuple(refs.values()), snapshot(root))
    keys = {(ref.agent, ref.path, ref.inner) for ref in kept}
    return {row for row, ref in refs.items() if (ref.agent, ref.path, ref.inner) in keys}


def _asking_git(database: sqlite3.Connection, asked: Filter, folder: Path) -> set[int]:
    from passdown.handoff.place import find_root

    ids = [row for rows_ in folders_of_sessions(database, asked).values() for row in rows_]
    return _taken(refs_of(database, ids), find_root(folder))


def moment(text: str, *, now: float | None = None) -> int:
    """Return the moment (milliseconds) that `3d`, `12h`, `2026-11-20` or `2026-11-20T08:00` mean.

    Raises `UsageError` for anything else.
    """
    now = time.time() if now is None else now
    if found := _AGO.fullmatch(text.strip()):
        return int((now - int(found[1]) * _SECONDS[found[2]]) * 1000)
    from datetime import datetime

    try:
        return int(datetime.fromisoformat(text.strip()).astimezone().timestamp() * 1000)
    except (ValueError, OverflowError) as error:
        raise UsageError(
            f"{one_line(text, 40)!r} is no time", next_step="Say 3d, 12h, 2026-11-20 or 2026-11-20T08:00."
        ) from error
