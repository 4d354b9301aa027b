"""Droid's sessions: `<home>/sessions/<folder>/<id>.jsonl` (older ones in `<home>/sessions/`, some in
`<home>/projects/`), with `<id>.settings.json` beside them; and saved lines of `droid exec --output-format stream-json`.

Droid keeps tokens for the whole session only, and of models the last one chosen.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from passdown.agents.droid.reader import Reader
from passdown.agents.droid.records import SETTINGS, Record, Settings, decode, is_stream
from passdown.errors import PassdownError
from passdown.io.files import read_bounded
from passdown.io.jsonl import MAX_LINE
from passdown.io.log import BAD, Log, ends_of, first_in, milliseconds, newest_first, safe_id
from passdown.model.session import AnyEvent, SessionEnd, SessionRef, SessionStart, Title, Unknown

_BOUND = 1 << 20


def recognise(head: bytes, name: str) -> bool:  # noqa: ARG001 - content decides, never the name
    """Say whether a file that starts with `head` is a session of droid's."""
    return any(_begins(record) or is_stream(record) for record in _records(head, 20))


def _begins(record: Record) -> bool:
    return record.type == "session_start" and bool(record.id)


def _records(head: bytes, most: int) -> Iterator[Record]:
    for text in head.split(b"\n", most)[:most]:
        if (record := first_in(text, decode)) is not None:
            yield record


def find(home: Path) -> Iterator[SessionRef]:
    """Yield the sessions under droid's folder, newest first. Links and files that cannot be read are left out."""
    for path in newest_first(home, "sessions/*/*.jsonl", "sessions/*.jsonl", "projects/*/*.jsonl"):
        ref = refer(path)
        if ref is not None:
            yield ref


def refer(path: Path) -> SessionRef | None:
    """Return what the ends of a log say of its session, None when it cannot be read or is none."""
    ends = ends_of(path)
    if ends is None:
        return None
    records = list(_records(ends.head, 50))
    own = [record for record in records if _begins(record) or is_stream(record)]
    if not own and not any(record.type == "message" for record in records):  # the header may be lost
        return None
    start = next((record for record in records if _begins(record) or record.session_id), own[0] if own else Record())
    stamps = (milliseconds(record.timestamp) for record in records)
    return SessionRef(
        agent="droid",
        path=str(path),
        session_id=_id_of(start, path),
        bytes=ends.size,
        started_at=next((at for at in stamps if at is not None), None),
        modified_at=ends.modified,
        cwd=start.cwd or "",
        title=_title(start),
        parent_id=safe_id(start.calling_session_id),
        parent_kind="subagent" if safe_id(start.calling_session_id) else "",
    )


def _id_of(start: Record, path: Path) -> str:
    own = start.id if start.type == "session_start" else start.session_id
    return safe_id(own) or safe_id(path.name.removesuffix(".jsonl"))


def _title(start: Record) -> str:
    title = start.session_title or start.title or ""
    return "" if title.strip() in ("New Session", "Untitled") else title.strip()[:300]


def _settings_of(path: Path) -> Settings:
    try:
        return SETTINGS.decode(
            read_bounded(path.with_name(f"{path.name.removesuffix('.jsonl')}.settings.json"), _BOUND)
        )
    except (OSError, ValueError, PassdownError, *BAD):
        return Settings()


def read(ref: SessionRef, *, max_line: int = MAX_LINE) -> Iterator[AnyEvent]:
    """Yield the session's events in file order, first a `SessionStart`, last a `SessionEnd`.

    A line longer than `max_line` bytes is passed over and reported. Raises `FileNotFoundError` when the file is gone.
    """
    path = Path(ref.path)
    settings = _settings_of(path)
    log: Log[Record] = Log(path, decode, max_line=max_line)
    reader: Reader | None = None
    for line, item in log:
        if reader is None:
            first = item if isinstance(item, Record) else Record()
            reader = Reader(settings, first.cwd or "")
            yield _start(ref, first, path)
            if _begins(first) and (title := _title(first)):
                yield Title(title=title, offset=line.offset, line=line.number)
        if isinstance(item, Unknown):
            yield item
        else:
            yield from reader.add(item, line)
    if reader is None:
        reader = Reader(settings)
        yield _start(ref, Record(), path)
    yield from reader.spent(settings)
    yield SessionEnd(records=log.records, bytes=log.size, offset=log.size, ignored=dict(reader.ignored))


def _start(ref: SessionRef, first: Record, path: Path) -> SessionStart:
    """Return the session's first record as an event; without one, what the file's name says."""
    begun = _begins(first) or bool(first.session_id)
    parent = safe_id(first.calling_session_id)
    own = _id_of(first, path) if begun else ""
    return SessionStart(
        session_id=own or ref.session_id or safe_id(path.name.removesuffix(".jsonl")),
        agent="droid", agent_version=first.version if begun and isinstance(first.version, str) else "",
        cwd=first.cwd or "", parent_id=parent, parent_kind="subagent" if parent else "",
        at=milliseconds(first.timestamp),
    )  # fmt: skip
