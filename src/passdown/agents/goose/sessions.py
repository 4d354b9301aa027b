"""Goose's sessions: `<home>/sessions/sessions.db`; before 1.10 one log each, `<home>/sessions/<id>.jsonl`.

A message that the agent does not see any more (compacted) was said all the same; one that the user does not see was
put in by the program. A session that both the database and a log hold is read from the database.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import msgspec

from passdown.agents.dialogue import moment, part_of, text_in
from passdown.agents.goose.database import read_database, sessions_in
from passdown.agents.goose.reader import Reader
from passdown.agents.tables import MAGIC, is_database, refused
from passdown.errors import PassdownError
from passdown.io.jsonl import MAX_LINE, Line
from passdown.io.log import Log, ends_of, first_in, newest_first, safe_id
from passdown.model.session import AnyEvent, SessionEnd, SessionRef, SessionStart, Title, Unknown

_DECODER = msgspec.json.Decoder(dict[str, Any])


def _decode(text: bytes) -> dict[str, Any]:
    return _DECODER.decode(text)


def recognise(head: bytes, name: str) -> bool:  # noqa: ARG001 - content decides, never the name
    """Say whether a file that starts with `head` is Goose's database or one of its logs."""
    if head.startswith(MAGIC):
        return b"working_dir" in head and b"content_json" in head
    return _is_header(_first(head))


def _first(head: bytes) -> dict[str, Any]:
    return first_in(head.lstrip(b"\x00\xef\xbb\xbf \t\r\n").split(b"\n", 1)[0], _decode) or {}


def _is_header(row: dict[str, Any]) -> bool:
    return "working_dir" in row and "role" not in row and ("message_count" in row or "description" in row)


def find(home: Path) -> Iterator[SessionRef]:
    """Yield the sessions under Goose's data folder, newest first. Links and what cannot be read are left out."""
    found: dict[str, SessionRef] = {}
    for path in _databases(home):
        try:
            found = {ref.session_id: ref for ref in sessions_in(path)}
        except (OSError, PassdownError, sqlite3.Error):
            found = {}
    for log in newest_first(home, "sessions/*.jsonl"):
        if (ref := refer(log)) is not None:
            found.setdefault(ref.session_id, ref)
    yield from sorted(found.values(), key=lambda ref: (-(ref.modified_at or 0), ref.session_id))


def _databases(home: Path) -> Iterator[Path]:
    path = home / "sessions" / "sessions.db"
    if path.is_file() and not path.is_symlink() and not path.parent.is_symlink():
        yield path


def refusals(home: Path, but: Collection[str]) -> Iterator[tuple[Path, str]]:
    """Yield each database other than `but`, and why it tells no sessions (empty where it does)."""
    return ((path, refused(path, sessions_in)) for path in _databases(home) if str(path) not in but)


def refer(path: Path) -> SessionRef | None:
    """Return what the head of a log says of its session, None when it says nothing; a database holds several."""
    ends = ends_of(path)
    if ends is None or ends.head.startswith(MAGIC):
        return None
    header = _first(ends.head)
    if not _is_header(header):
        lines = (first_in(line, _decode) for line in ends.head.split(b"\n", 5)[:5])
        if not any(line and "role" in line and "created" in line for line in lines):
            return None
        header = {}  # it is lost, the messages are there
    return SessionRef(
        agent="goose",
        path=str(path),
        session_id=safe_id(path.stem),
        bytes=ends.size,
        modified_at=ends.modified,
        cwd=text_in(header, "working_dir"),
        title=text_in(header, "description")[:300],
    )


def read(ref: SessionRef, *, max_line: int = MAX_LINE) -> Iterator[AnyEvent]:
    """Yield the session's events in order, first a `SessionStart`, last a `SessionEnd`.

    A line or row longer than `max_line` is passed over and reported. Raises `FileNotFoundError` when the file is gone,
    `FormatError` for a database that is not Goose's, `UsageError` when it holds several sessions, none of them named.
    """
    path = Path(ref.path)
    if is_database(path):
        yield from read_database(path, ref, max_line)
        return
    reader, begun = Reader(), False
    log: Log[dict[str, Any]] = Log(path, _decode, max_line=max_line)
    for line, item in log:
        if not begun:
            begun = True
            header = item if isinstance(item, dict) and "role" not in item else {}
            yield from _start(ref, header)
            if header and _is_header(header):
                continue
        if isinstance(item, Unknown):
            yield item
        else:
            yield from _row(reader, item, line)
    if not begun:
        yield from _start(ref, {})
    yield SessionEnd(records=log.records, bytes=log.size, offset=log.size, ignored=dict(reader.ignored))


def _row(reader: Reader, row: dict[str, Any], line: Line) -> list[AnyEvent]:
    return reader.add(
        text_in(row, "role"), row.get("content", ()), part_of(row, "metadata"), line.length,
        at=moment(row.get("created")), offset=line.offset, line=line.number,
    )  # fmt: skip


def _start(ref: SessionRef, header: dict[str, Any]) -> Iterator[AnyEvent]:
    yield SessionStart(
        session_id=ref.session_id or safe_id(Path(ref.path).stem), agent="goose", cwd=text_in(header, "working_dir")
    )
    if title := text_in(header, "description"):
        yield Title(title=title)
