"""Crush's sessions: a database in each project, `<project>/.crush/crush.db`; `<home>/projects.json` names the projects.

The shapes are those of `internal/db/migrations` and `internal/message`. Times are seconds in some releases and
milliseconds in others, so that rows stand in the order in which they were written. A session keeps the tokens of its
newest response alone, so that none are counted here; the sessions of subagents and of titles are left out.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator
from pathlib import Path

from passdown.agents.crush.reader import Reader
from passdown.agents.dialogue import decoded, moment, plan_in, text_in
from passdown.agents.tables import MAGIC, Row, is_database, only, open_tables, refused, select, text
from passdown.errors import PassdownError
from passdown.io.files import read_bounded
from passdown.io.jsonl import MAX_LINE
from passdown.io.log import safe_id
from passdown.model.session import AnyEvent, PlanUpdate, SessionEnd, SessionRef, SessionStart, Title, Unknown

_SESSION = ("id", "parent_session_id", "title", "created_at", "updated_at", "todos", "workspace_cwd")
_MESSAGE = ("id", "role", "parts", "model", "created_at", "is_summary_message")
_NEEDED = {"sessions": ("id", "title"), "messages": ("session_id", "role", "parts")}
_BOUND = 1 << 20
_PROJECTS = 5000


def recognise(head: bytes, name: str) -> bool:  # noqa: ARG001 - content decides, never the name
    """Say whether a file that starts with `head` is a Crush database."""
    return head.startswith(MAGIC) and b"prompt_tokens" in head and b"parts" in head and b"parent_session_id" in head


def find(home: Path) -> Iterator[SessionRef]:
    """Yield the sessions of every project that Crush knows, newest first. Links and unreadable files are left out."""
    found: list[SessionRef] = []
    for project, path in _databases(home):
        try:
            rows = _listed(path)
        except (OSError, PassdownError, sqlite3.Error):
            continue
        found += [ref for row in rows if (ref := _refer(row, path, project)) is not None]
    yield from sorted(found, key=lambda ref: (-(ref.modified_at or 0), ref.session_id))


def _listed(path: Path) -> list[Row]:
    with open_tables(path, "Crush", **_NEEDED) as connection:
        return list(select(connection, "sessions", _SESSION, order="updated_at DESC, id"))


def refusals(home: Path, but: Collection[str]) -> Iterator[tuple[Path, str]]:
    """Yield each database other than `but`, and why it tells no sessions (empty where it does)."""
    return ((path, refused(path, _listed)) for _, path in _databases(home) if str(path) not in but)


def _databases(home: Path) -> Iterator[tuple[str, Path]]:
    try:
        listed = decoded(read_bounded(home / "projects.json", _BOUND))
    except (OSError, PassdownError):
        return
    projects = listed.get("projects") if isinstance(listed, dict) else None
    for project in (projects if isinstance(projects, list) else [])[:_PROJECTS]:
        folder, data = text_in(project, "path"), text_in(project, "data_dir")
        if not Path(folder).is_absolute() or "\0" in folder + data:
            continue
        path = Path(folder) / (data or ".crush") / "crush.db"
        if path.is_file() and not path.is_symlink() and not path.parent.is_symlink():
            yield folder, path


def refer(path: Path) -> SessionRef | None:  # noqa: ARG001 - a database tells its sessions only when it is read
    """Return None: a database does not say at its ends whose session it is."""
    return None


def _refer(row: Row, path: Path, project: str) -> SessionRef | None:
    identifier = safe_id(text(row, "id"))
    if not identifier or text(row, "parent_session_id"):
        return None
    return SessionRef(
        agent="crush",
        path=str(path),
        session_id=identifier,
        inner=identifier,
        started_at=moment(row.get("created_at")),
        modified_at=moment(row.get("updated_at")),
        cwd=text(row, "workspace_cwd") or project,
        title=text(row, "title")[:300],
    )


def read(ref: SessionRef, *, max_row: int = MAX_LINE) -> Iterator[AnyEvent]:
    """Yield the session's events in order, first a `SessionStart`, last a `SessionEnd`.

    A row longer than `max_row` is passed over and reported. Raises `FileNotFoundError` when the file is gone,
    `FormatError` for a database that is not Crush's, `UsageError` when it holds several sessions, none of them named.
    """
    path = Path(ref.path)
    if not is_database(path):
        yield SessionStart(session_id=ref.session_id, agent="crush")
        yield Unknown(record="database", reason="bad_shape", length=path.stat().st_size)
        yield SessionEnd(records=1, bytes=path.stat().st_size)
        return
    wanted = ref.inner or ref.session_id
    with open_tables(path, "Crush", **_NEEDED) as connection:
        where = "id = ?" if wanted else ""
        rows = list(
            select(
                connection,
                "sessions",
                _SESSION,
                where=where,
                values=[wanted][: len(where)],
                order="updated_at DESC, id",
            )
        )
        mains = [row for row in rows if wanted or not text(row, "parent_session_id")]
        yield from _events(connection, only(mains, "id", path, wanted), path, ref, max_row)


def _events(
    connection: sqlite3.Connection, session: Row, path: Path, ref: SessionRef, max_row: int
) -> Iterator[AnyEvent]:
    parent, began = safe_id(text(session, "parent_session_id")), moment(session.get("created_at"))
    project = str(path.absolute().parent.parent) if path.parent.name == ".crush" else ""
    yield SessionStart(
        session_id=safe_id(text(session, "id")) or ref.session_id, agent="crush",
        cwd=text(session, "workspace_cwd") or ref.cwd or project,
        parent_id=parent, parent_kind="subagent" if parent else "", at=began,
    )  # fmt: skip
    if title := text(session, "title"):
        yield Title(title=title, at=began)
    reader, ordinal, size = Reader(), 0, 0
    try:
        for row in select(
            connection, "messages", _MESSAGE, where="session_id = ?", values=[session["id"]],
            order="rowid", cap=max_row, large=("parts",),
        ):  # fmt: skip
            ordinal, size = ordinal + 1, size + (row["parts_length"] or 0)
            yield from reader.add(row, ordinal)
    except sqlite3.Error:
        yield Unknown(record="message", reason="torn_line", offset=ordinal)
    if not reader.planned and (items := plan_in(decoded(session.get("todos")))):
        yield PlanUpdate(items=items, at=moment(session.get("updated_at")), offset=ordinal)
    yield SessionEnd(records=ordinal, bytes=size, offset=ordinal, ignored=dict(reader.ignored))
