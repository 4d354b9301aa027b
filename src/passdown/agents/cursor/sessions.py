"""Cursor's sessions: `<home>/chats/<hash of the folder>/<id>/store.db` (the program in the terminal), and transcripts
`<home>/projects/<folder>/agent-transcripts/<id>/<id>.jsonl`, without the folder before, as `.txt` still earlier.

A session that has both is read from its database, which alone holds results. Transcripts hold no times. Neither tells
the tokens of a response.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from passdown.agents.cursor.folder import folder_called
from passdown.agents.cursor.plain import Plain, is_plain
from passdown.agents.cursor.reader import Reader
from passdown.agents.cursor.records import Record, decode
from passdown.agents.cursor.store import MAGIC, Blob, Outside, is_store, messages, outside
from passdown.errors import FormatError, PassdownError
from passdown.io.jsonl import MAX_LINE, Line, open_log, read_file_lines
from passdown.io.log import (
    BAD,
    HEAD,
    Log,
    ends_of,
    first_in,
    mended,
    newest_first,
    not_understood,
    safe_id,
    whole,
)
from passdown.model.session import AnyEvent, SessionEnd, SessionRef, SessionStart, Title, Unknown


def recognise(head: bytes, name: str) -> bool:  # noqa: ARG001 - content decides, never the name
    """Say whether a file that starts with `head` is a transcript or a store of Cursor's."""
    if head.startswith(MAGIC):
        return is_store(head)
    if is_plain(head):
        return True
    for text in head.split(b"\n", 5)[:5]:
        if (record := first_in(text, decode)) is None:
            continue
        return (
            record.role in ("user", "assistant")
            and record.message is not None
            and record.type is None
            and (isinstance(record.message.content, list) and b'"uuid"' not in text and b'"timestamp"' not in text)
        )
    return False


def find(home: Path) -> Iterator[SessionRef]:
    """Yield the sessions under Cursor's folder, newest first. Links and files that cannot be read are left out."""
    transcripts = "projects/*/agent-transcripts"
    patterns = (
        "chats/*/*/store.db", f"{transcripts}/*.jsonl", f"{transcripts}/*.txt", f"{transcripts}/*/*.jsonl",
        f"{transcripts}/*/subagents/*.jsonl",
    )  # fmt: skip
    found = [ref for path in newest_first(home, *patterns) if (ref := refer(path)) is not None]
    stored = {ref.session_id for ref in found if ref.path.endswith("store.db")}
    for ref in found:
        if ref.path.endswith("store.db") or ref.session_id not in stored:
            yield ref


def refer(path: Path) -> SessionRef | None:
    """Return what a transcript's path or a database says of its session, None when it cannot be read or is none."""
    ends = ends_of(path)
    if ends is None or not recognise(ends.head, path.name):
        return None
    parent = safe_id(path.parent.parent.name) if path.parent.name == "subagents" else ""
    told = _outside(path) if ends.head.startswith(MAGIC) else None
    wal = path.with_name(f"{path.name}-wal")
    modified = max(
        [ends.modified, int(wal.stat().st_mtime * 1000)] if told is not None and wal.is_file() else [ends.modified]
    )
    return SessionRef(
        agent="cursor",
        path=str(path),
        session_id=_id_of(path, told),
        bytes=ends.size,
        started_at=whole(told.meta.created_at) if told is not None else None,
        modified_at=modified,
        cwd=told.cwd if told is not None else _folder_of(path),
        title=_title(told),
        parent_id=parent,
        parent_kind="subagent" if parent else "",
    )


def _outside(path: Path) -> Outside | None:
    try:
        return outside(path)
    except (OSError, PassdownError):
        return None


def _id_of(path: Path, told: Outside | None) -> str:
    if path.name == "store.db":
        return safe_id(path.parent.name)
    own = safe_id(told.meta.agent_id) if told is not None else ""
    return own or safe_id(path.name.split(".")[0])


def _folder_of(path: Path) -> str:
    """Return the folder that a transcript's project stands for, where it is there."""
    for folder in path.parents:
        if folder.name == "agent-transcripts":
            return folder_called(folder.parent.name)
    return ""


def _title(told: Outside | None) -> str:
    title = (told.meta.name or "").strip()[:300] if told is not None else ""
    return "" if title in ("New Agent", "Untitled") else title


def read(ref: SessionRef, *, max_line: int = MAX_LINE) -> Iterator[AnyEvent]:
    """Yield the session's events in file order, first a `SessionStart`, last a `SessionEnd`.

    A line longer than `max_line` bytes is passed over and reported, a database that cannot be read likewise. Raises
    `FileNotFoundError` when the file is gone.
    """
    path = Path(ref.path)
    with open_log(path) as stream:
        head = stream.read(HEAD)
    if head.startswith(MAGIC):
        yield from _read_store(ref, path, max_line)
        return
    parent = safe_id(path.parent.parent.name) if path.parent.name == "subagents" else ""
    yield SessionStart(
        session_id=_id_of(path, None) or ref.session_id, agent="cursor", cwd=ref.cwd or _folder_of(path),
        parent_id=parent, parent_kind="subagent" if parent else "",
    )  # fmt: skip
    yield from _read_plain(path, max_line) if is_plain(head) else _read_rows(path, max_line, subagent=bool(parent))


def _read_rows(path: Path, max_line: int, *, subagent: bool) -> Iterator[AnyEvent]:
    reader = Reader(subagent=subagent)
    log: Log[Record] = Log(path, decode, max_line=max_line)
    for line, item in log:
        if isinstance(item, Unknown):
            yield item
        else:
            yield from _events(reader, item, line)
    yield SessionEnd(records=log.records, bytes=log.size, offset=log.size, ignored=dict(reader.ignored))


def _events(reader: Reader, record: Record, line: Line) -> Iterator[AnyEvent]:
    reader.events = []
    reader.base = {"offset": line.offset, "line": line.number}
    reader.key = f"line-{line.number}"
    known = reader.add(record)
    yield from reader.events
    if not known:
        named = record.role or record.type or ""
        yield not_understood(line, "unknown_type" if named else "bad_shape", named)


def _read_plain(path: Path, max_line: int) -> Iterator[AnyEvent]:
    reader = Reader()
    plain = Plain(reader)
    records = size = 0
    for line in read_file_lines(path, max_line=max_line):
        records, size = records + 1, line.offset + line.length + line.complete
        if line.data is None:
            yield not_understood(line, "line_too_long")
            continue
        reader.events = []
        plain.add(line)
        yield from reader.events
    reader.events = []
    plain.finish()
    yield from reader.events
    yield SessionEnd(records=records, bytes=size, offset=size, ignored=dict(reader.ignored))


def _read_store(ref: SessionRef, path: Path, max_row: int) -> Iterator[AnyEvent]:
    """The place of an event is the number of its message, from 1. Their times are not kept."""
    reader = Reader()
    records = size = 0
    begun = False
    try:
        for item in messages(path, max_row):
            if isinstance(item, Outside):
                reader, begun = Reader(item.meta.last_used_model or ""), True
                yield from _begin(ref, path, item)
                continue
            records, size = records + 1, size + item.length
            yield from _of_blob(reader, item)
    except FormatError:
        if not begun:
            yield SessionStart(session_id=ref.session_id or _id_of(path, None), agent="cursor")
        yield Unknown(record="database", reason="bad_shape", length=path.stat().st_size)
    yield SessionEnd(records=records, bytes=size, offset=records, line=records, ignored=dict(reader.ignored))


def _begin(ref: SessionRef, path: Path, told: Outside) -> Iterator[AnyEvent]:
    created = whole(told.meta.created_at)
    yield SessionStart(session_id=_id_of(path, told) or ref.session_id, agent="cursor", cwd=told.cwd, at=created)
    if title := _title(told):
        yield Title(title=title, at=created)


def _of_blob(reader: Reader, blob: Blob) -> Iterator[AnyEvent]:
    line = Line(blob.number, blob.number, blob.data, blob.length, complete=True)
    if blob.data is None:
        yield not_understood(line, "line_too_long" if blob.length else "torn_line")
        return
    try:
        found: list[Record | Unknown] = [decode(blob.data)]
    except BAD:
        found = mended(line, decode)
    for item in found:
        if isinstance(item, Unknown):
            yield item
        else:
            yield from _events(reader, item, line)
