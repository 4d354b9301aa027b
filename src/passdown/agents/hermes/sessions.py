"""Hermes' sessions: `<home>/state.db`; before that one log each, `<home>/sessions/<time>_<id>.jsonl`, or a document,
`session_<id>.json`.

A compaction begins a new session, which names the one before it. Tokens are kept by session and by model, not by
response, so that none are counted here. Releases before `cwd` was kept do not say where a session worked.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import msgspec

from passdown.agents.dialogue import decoded, moment, text_in
from passdown.agents.document import read_document
from passdown.agents.hermes.reader import Reader
from passdown.agents.tables import MAGIC, Row, is_database, only, open_tables, refused, select, text
from passdown.errors import PassdownError
from passdown.io.files import open_regular
from passdown.io.jsonl import MAX_LINE
from passdown.io.log import Log, ends_of, first_in, newest_first, safe_id
from passdown.model.pattern import lazy_pattern
from passdown.model.session import AnyEvent, SessionEnd, SessionRef, SessionStart, Title, Unknown

_SESSION = ("id", "source", "model", "parent_session_id", "started_at", "ended_at", "last_activity_at", "title", "cwd",
            "git_branch", "model_config")  # fmt: skip
_MESSAGE = ("role", "content", "tool_call_id", "tool_calls", "tool_name", "timestamp", "reasoning",
            "reasoning_content", "active", "compacted", "display_kind")  # fmt: skip
_NEEDED = {"sessions": ("id", "source", "started_at"), "messages": ("session_id", "role", "content")}
_DECODER = msgspec.json.Decoder(dict[str, Any])
_GENERATIONS = 64
_DOCUMENT = lazy_pattern(rb'\s*\{\s*"session_id"\s*:\s*"')


def _decode(line: bytes) -> dict[str, Any]:
    return _DECODER.decode(line)


def recognise(head: bytes, name: str) -> bool:  # noqa: ARG001 - content decides, never the name
    """Say whether a file that starts with `head` is Hermes' database, log or document."""
    if head.startswith(MAGIC):
        return b"end_reason" in head and b"tool_calls" in head and b"parent_session_id" in head
    start = head.removeprefix(b"\xef\xbb\xbf")
    if _DOCUMENT.match(start):
        return b'"messages"' in head and (b'"session_start"' in head or b'"platform"' in head)
    return text_in(_first(start), "role") == "session_meta"


def _first(head: bytes) -> dict[str, Any]:
    return first_in(head.lstrip(b"\x00\xef\xbb\xbf \t\r\n").split(b"\n", 1)[0], _decode) or {}


def find(home: Path) -> Iterator[SessionRef]:
    """Yield the sessions under Hermes' folder, newest first. Links and what cannot be read are left out."""
    found: dict[str, SessionRef] = {}
    for path in _databases(home):
        try:
            found = {ref.session_id: ref for ref in _listed(path)}
        except (OSError, PassdownError, sqlite3.Error):
            found = {}
    for log in newest_first(home, "sessions/*.jsonl", "sessions/session_*.json"):
        if (ref := refer(log)) is not None:
            found.setdefault(ref.session_id, ref)
    yield from sorted(found.values(), key=lambda ref: (-(ref.modified_at or 0), ref.session_id))


def _databases(home: Path) -> Iterator[Path]:
    path = home / "state.db"
    if path.is_file() and not path.is_symlink():
        yield path


def refusals(home: Path, but: Collection[str]) -> Iterator[tuple[Path, str]]:
    """Yield each database other than `but`, and why it tells no sessions (empty where it does)."""
    return ((path, refused(path, _listed)) for path in _databases(home) if str(path) not in but)


def _listed(path: Path) -> Iterator[SessionRef]:
    with open_tables(path, "Hermes", **_NEEDED) as connection:
        rows = list(select(connection, "sessions", _SESSION, order="started_at DESC, id"))
    by_id = {text(row, "id"): row for row in rows}
    for row in rows:
        if identifier := safe_id(text(row, "id")):
            parent = safe_id(text(row, "parent_session_id"))
            placed = _placed(row, by_id)
            times = [moment(row[name]) for name in ("last_activity_at", "ended_at", "started_at")]
            yield SessionRef(
                agent="hermes", path=str(path), session_id=identifier, inner=identifier,
                started_at=moment(row["started_at"]), modified_at=next((time for time in times if time), None),
                cwd=text(placed, "cwd"), branch=text(placed, "git_branch"), title=text(row, "title")[:300],
                parent_id=parent, parent_kind=_kinship(row, parent),
            )  # fmt: skip


def _placed(row: Row, by_id: dict[str, Row]) -> Row:
    """Return the nearest session upwards that says where it worked: a continuation may leave it to its parent."""
    for _ in range(_GENERATIONS):
        if text(row, "cwd"):
            break
        row = by_id.get(text(row, "parent_session_id"), row)
    return row


def _kinship(row: Row, parent: str) -> Any:
    if not parent:
        return ""
    config = decoded(row["model_config"])
    marks = config if isinstance(config, dict) else {}
    if "_delegate_from" in marks or text(row, "source") in ("subagent", "tool"):
        return "subagent"
    return "fork" if "_branched_from" in marks else "continuation"


def refer(path: Path) -> SessionRef | None:
    """Return what the ends of a log say of its session, None when they say nothing; a database holds several."""
    ends = ends_of(path)
    if ends is None or ends.head.startswith(MAGIC):
        return None
    if not recognise(ends.head, path.name) and not _goes_on(ends.head):
        return None
    began = moment(_first(ends.head).get("timestamp"))
    identifier = safe_id(path.stem.removeprefix("session_"))
    return SessionRef(
        agent="hermes", path=str(path), session_id=identifier, bytes=ends.size, started_at=began,
        modified_at=ends.modified,
    )  # fmt: skip


def _goes_on(head: bytes) -> bool:
    """Say whether messages follow the first line of a log, which is damaged."""
    lines = (first_in(line, _decode) for line in head.split(b"\n", 5)[1:5])
    return any(text_in(line, "role") in ("user", "assistant", "tool") for line in lines)


def read(ref: SessionRef, *, max_line: int = MAX_LINE) -> Iterator[AnyEvent]:
    """Yield the session's events in order, first a `SessionStart`, last a `SessionEnd`.

    A line or row longer than `max_line` is passed over and reported. Raises `FileNotFoundError` when the file is gone,
    `FormatError` for a database that is not Hermes', `UsageError` when it holds several sessions, none of them named.
    """
    path = Path(ref.path)
    if is_database(path):
        wanted = ref.inner or ref.session_id
        with open_tables(path, "Hermes", **_NEEDED) as connection:
            where, order = "id = ?" if wanted else "", "started_at DESC"
            rows = list(
                select(connection, "sessions", _SESSION, where=where, values=[wanted][: len(where)], order=order)
            )
            yield from _events(connection, only(rows, "id", path, wanted), ref, max_line)
    elif _is_document(path):
        yield from _document(path, ref)
    else:
        yield from _log(path, ref, max_line)


def _is_document(path: Path) -> bool:
    with open_regular(path) as stream:
        return _DOCUMENT.match(stream.read(4096).removeprefix(b"\xef\xbb\xbf")) is not None


def _events(connection: sqlite3.Connection, session: Row, ref: SessionRef, max_row: int) -> Iterator[AnyEvent]:
    parent, began = safe_id(text(session, "parent_session_id")), moment(session["started_at"])
    kinship = _kinship(session, parent)
    yield SessionStart(
        session_id=safe_id(text(session, "id")) or ref.session_id, agent="hermes", cwd=text(session, "cwd") or ref.cwd,
        branch=text(session, "git_branch") or ref.branch, parent_id=parent, parent_kind=kinship,
        originator=text(session, "source")[:80], at=began,
    )  # fmt: skip
    if title := text(session, "title"):
        yield Title(title=title, at=began)
    reader = Reader(model=text(session, "model"), delegated=kinship == "subagent")
    ordinal = size = 0
    try:
        for row in select(
            connection, "messages", _MESSAGE, where="session_id = ?", values=[session["id"]], order="id, rowid",
            cap=max_row, large=("content", "tool_calls"),
        ):  # fmt: skip
            length = (row["content_length"] or 0) + (row["tool_calls_length"] or 0)
            ordinal, size = ordinal + 1, size + length
            long = [name for name in ("content", "tool_calls") if row[name] is None and row[f"{name}_length"]]
            if long:
                record = text(row, "role")[:80]
                yield Unknown(record=record, reason="line_too_long", length=length, offset=ordinal)
                continue
            # What a compaction hid was said all the same; what was taken back was not.
            active = row["active"] != 0 or row["compacted"] == 1
            yield from reader.add(row, length, offset=ordinal, active=active)
    except sqlite3.Error:
        yield Unknown(record="message", reason="torn_line", offset=ordinal)
    yield SessionEnd(records=ordinal, bytes=size, offset=ordinal, ignored=dict(reader.ignored))


def _document(path: Path, ref: SessionRef) -> Iterator[AnyEvent]:
    document = read_document(path, "messages")
    around = {name: decoded(raw) for name, raw in document.around.items()}
    yield SessionStart(
        session_id=safe_id(text_in(around, "session_id")) or ref.session_id, agent="hermes",
        originator=text_in(around, "platform")[:80], at=moment(around.get("session_start")),
    )  # fmt: skip
    reader = Reader(model=text_in(around, "model"))
    for item in document.items:
        message = decoded(item.data) if item.data is not None else None
        if isinstance(message, dict):
            yield from reader.add(message, item.length, offset=item.offset)
        else:
            reason: Any = "line_too_long" if item.long else "torn_line" if item.data is None else "bad_shape"
            yield Unknown(record="message", reason=reason, length=item.length, offset=item.offset)
    records = len(document.items)
    yield SessionEnd(records=records, bytes=document.size, offset=document.size, ignored=dict(reader.ignored))


def _log(path: Path, ref: SessionRef, max_line: int) -> Iterator[AnyEvent]:
    reader, begun = Reader(), False
    log: Log[dict[str, Any]] = Log(path, _decode, max_line=max_line)
    for line, item in log:
        if not begun:
            begun = True
            yield _start(ref, path, item if isinstance(item, dict) else {})
        if isinstance(item, Unknown):
            yield item
        else:
            yield from reader.add(item, line.length, offset=line.offset, line=line.number)
    if not begun:
        yield _start(ref, path, {})
    yield SessionEnd(records=log.records, bytes=log.size, offset=log.size, ignored=dict(reader.ignored))


def _start(ref: SessionRef, path: Path, header: dict[str, Any]) -> SessionStart:
    identifier = ref.session_id or safe_id(path.stem.removeprefix("session_"))
    return SessionStart(
        session_id=identifier, agent="hermes", originator=text_in(header, "platform")[:80],
        at=moment(header.get("timestamp")),
    )  # fmt: skip
