"""OpenCode's sessions: `opencode.db`, the older `storage/` tree of JSON files, and `opencode export` documents.

A session that both the database and the tree hold is read from the database. OpenCode stores no branch and no commit.
The place of an event (`offset`, `line`) is the ordinal of its row: messages and parts in their order, from 1.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

from passdown.agents.opencode.database import SQLITE_MAGIC, sessions_in
from passdown.agents.opencode.messages import Messages
from passdown.agents.opencode.records import BAD, SESSION, SessionInfo, parent_of, safe_id, torn_session, whole
from passdown.agents.opencode.row import Row
from passdown.agents.opencode.rows import read_rows
from passdown.agents.tables import refused
from passdown.errors import PassdownError
from passdown.io.files import open_regular
from passdown.io.jsonl import MAX_LINE
from passdown.model.pattern import lazy_pattern
from passdown.model.session import AnyEvent, SessionEnd, SessionRef, SessionStart, Title

HEAD = 64 << 10
"""Bytes read of a session's record to find it."""

_EXPORT = lazy_pattern(rb'\s*\{\s*"info"\s*:\s*\{[^{}]{0,4000}?"id"\s*:\s*"ses_')
_RECORD = lazy_pattern(rb'\s*\{(?:\s*"[A-Za-z]{1,40}"\s*:\s*"[^"]{0,4000}"\s*,){0,8}\s*"id"\s*:\s*"(?:ses|msg)_')
_TABLE = lazy_pattern(rb"CREATE TABLE (?:IF NOT EXISTS )?[`\"\[]?session[`\"\]\s(]")
_IDS = lazy_pattern(rb"(?:ses|msg|prt)_[0-9a-f]{8}")


def recognise(head: bytes, name: str) -> bool:
    """Say whether a file that starts with `head` is OpenCode's: its database, an export, or a file of its tree."""
    if head.startswith(SQLITE_MAGIC):
        if b"`part`" in head or _IDS.search(head):
            return True
        # While its tables stand in the write-ahead log alone, the file says nothing, and its name has to do.
        called = name.startswith("opencode") or ".opencode." in name
        return called and (b"CREATE TABLE" not in head or _TABLE.search(head) is not None)
    head = head.removeprefix(b"\xef\xbb\xbf")
    if _EXPORT.match(head):
        return True
    if not _RECORD.match(head):
        return False
    return b'"sessionID"' in head or b'"time"' in head


def find(home: Path) -> Iterator[SessionRef]:
    """Yield the sessions under OpenCode's data folder, newest first. Links and what cannot be read are left out."""
    found: dict[str, SessionRef] = {}
    for path in _databases(home):
        try:
            listed = sessions_in(path)
        except (OSError, PassdownError):
            continue
        for info in listed:
            if identifier := safe_id(info.id):
                found.setdefault(identifier, _refer(info, path, identifier, inner=identifier))
    for pattern in ("storage/session/*/*.json", "project/*/storage/session/info/*.json"):
        for path in sorted(home.glob(pattern)):
            if (ref := _from_tree(path)) is not None:
                found.setdefault(ref.session_id, ref)
    yield from sorted(found.values(), key=lambda ref: (-(ref.modified_at or 0), ref.session_id))


def _databases(home: Path) -> Iterator[Path]:
    return (path for path in sorted(home.glob("opencode*.db")) if not path.is_symlink())


def refusals(home: Path, but: Collection[str]) -> Iterator[tuple[Path, str]]:
    """Yield each database other than `but`, and why it tells no sessions (empty where it does)."""
    return ((path, refused(path, sessions_in)) for path in _databases(home) if str(path) not in but)


def refer(path: Path) -> SessionRef | None:  # noqa: ARG001 - a document tells its session only when it is read
    """Return None: neither a database nor an export says at its ends whose session it is."""
    return None


def _from_tree(path: Path) -> SessionRef | None:
    if path.parent.is_symlink():
        return None
    try:
        with open_regular(path) as stream:
            head = stream.read(HEAD)
        modified = int(path.stat().st_mtime * 1000)
    except (OSError, PassdownError):
        return None
    try:
        info = SESSION.decode(head)
    except BAD:
        info = torn_session(head)
    identifier = safe_id(info.id) or safe_id(path.stem)
    if not identifier.startswith("ses"):
        return None
    return _refer(info, path, identifier, modified=modified)


def _refer(
    info: SessionInfo, path: Path, identifier: str, *, inner: str = "", modified: int | None = None
) -> SessionRef:
    time = info.time
    return SessionRef(
        agent="opencode",
        path=str(path),
        session_id=identifier,
        inner=inner,
        started_at=whole(time.created) if time else None,
        modified_at=(whole(time.updated) if time else None) or modified or None,
        cwd=info.directory or "",
        title=info.title or "",
        parent_id=parent_of(info),
    )


def read(ref: SessionRef, *, max_row: int = MAX_LINE) -> Iterator[AnyEvent]:
    """Yield the session's events in order, first a `SessionStart`, last a `SessionEnd`.

    A row longer than `max_row` bytes is passed over and reported. Raises `FileNotFoundError` when the file is gone,
    `FormatError` when it is nothing of OpenCode's, `UsageError` when a database holds several sessions, none named.
    """
    messages = Messages(SessionInfo())
    records = size = 0
    for row in read_rows(ref, max_row=max_row):
        if not isinstance(row, Row):
            messages = Messages(row)
            yield from _start(row, ref)
            continue
        records += row.kind != "lost"
        size += row.length
        yield from messages.add(row)
    yield from messages.finish()
    yield SessionEnd(records=records, bytes=size, offset=records, line=records, ignored=dict(messages.ignored))


def _start(info: SessionInfo, ref: SessionRef) -> Iterator[AnyEvent]:
    created = whole(info.time.created) if info.time else None
    yield SessionStart(
        session_id=safe_id(info.id) or ref.session_id,
        agent="opencode",
        agent_version=info.version or "",
        cwd=info.directory or "",
        parent_id=parent_of(info),
        parent_kind="subagent" if info.parent_id else "",
        at=created,
    )
    if info.title:
        yield Title(title=info.title, at=created)
