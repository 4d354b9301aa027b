"""Gemini CLI's sessions: `<home>/tmp/<project>/chats/session-<time>-<id>.jsonl`, before 0.40 one `.json` document.

A log is one of updates: a header, messages (the same id again when its calls have ended), `$set` with changes of the
header or a whole new history, `$rewindTo`. Where a session worked is not in it but in the project's `.project_root`, or
in `projects.json` under the folder's name or its hash. Gemini stores no branch and no commit.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from passdown.agents.gemini.document import messages_in
from passdown.agents.gemini.reader import Reader
from passdown.agents.gemini.records import MARK, ROW, Row
from passdown.agents.genai.parts import listed, text_of
from passdown.agents.genai.prompts import pieces_of
from passdown.errors import PassdownError
from passdown.io.files import read_bounded
from passdown.io.jsonl import MAX_LINE, open_log, read_file_lines
from passdown.io.log import BAD, HEAD, Log, ends_of, first_in, milliseconds, newest_first, safe_id
from passdown.model.pattern import lazy_pattern
from passdown.model.session import AnyEvent, SessionEnd, SessionRef, SessionStart, Unknown

_FIELD = lazy_pattern(rb'"(sessionId|startTime|kind)"\s*:\s*"((?:[^"\\]|\\.){0,2000})"')
_TITLE = lazy_pattern(rb'\n  "summary": "((?:[^"\\]|\\.){0,2000})"')
_MESSAGE = lazy_pattern(rb'"type"\s*:\s*"(?:gemini|user|info|warning|error)"|"messages"\s*:\s*\[\s*\]')


def recognise(head: bytes, name: str) -> bool:  # noqa: ARG001 - content decides, never the name
    """Say whether a file that starts with `head` is a Gemini session."""
    text = head.lstrip(b"\x00\xef\xbb\xbf \t\r\n")
    if not text.startswith(b"{"):
        return False
    for line in text.split(b"\n", 20)[:20]:
        row = _row(line)
        if row is not None and (
            (row.session_id and row.project_hash) or (row.type == "gemini" and row.id and row.timestamp)
        ):
            return True
    # A document over many lines; its keys stand in any order.
    start = text[:4096]
    return (
        b'"messages"' in start
        and (b'"projectHash"' in start or b'"lastUpdated"' in start)
        and _MESSAGE.search(text[:65536]) is not None
    )


def _row(line: bytes) -> Row | None:
    return first_in(line, ROW.decode)


def find(home: Path) -> Iterator[SessionRef]:
    """Yield the sessions under Gemini's folder, newest first. A document that was carried on as a log is left out."""
    store = home / "tmp"
    patterns = ("*/chats/session-*.jsonl", "*/chats/session-*.json", "*/chats/*/*.jsonl")
    for path in newest_first(store, *patterns):
        if path.suffix == ".json" and path.with_suffix(".jsonl").is_file():
            continue
        ref = refer(path)
        if ref is not None:
            yield ref


class _Head(NamedTuple):
    session_id: str
    started_at: int | None
    title: str
    kind: str


def refer(path: Path) -> SessionRef | None:
    """Return what the ends of a log say of its session, None when it cannot be read or is none."""
    ends = ends_of(path)
    if ends is None or not recognise(ends.head, path.name):
        return None
    head = _head(ends.head, ends.tail)
    parent = _parent(path, head.kind)
    return SessionRef(
        agent="gemini",
        path=str(path),
        session_id=head.session_id or _name_of(path),
        bytes=ends.size,
        started_at=head.started_at,
        modified_at=ends.modified,
        cwd=folder_of(path),
        title=head.title,
        parent_id=parent,
        parent_kind="subagent" if parent else "",
    )


def _head(head: bytes, tail: bytes = b"") -> _Head:
    """Return the header's fields; of the title the last one that the ends of the file show."""
    found: dict[bytes, str] = {}
    for key, value in (*_FIELD.findall(head[:HEAD]), *_FIELD.findall(tail)):
        found.setdefault(key, _plain(value))
    started = milliseconds(found.get(b"startTime"))
    return _Head(safe_id(found.get(b"sessionId")), started, _title(head, tail), found.get(b"kind", ""))


def _title(head: bytes, tail: bytes) -> str:
    title = ""
    for text in (head, tail):
        if match := _TITLE.search(text):
            title = _plain(match[1])
        for line in text.split(b"\n"):
            if b'"summary"' in line and line.startswith((b'{"$set"', b'{"sessionId"')) and (row := _row(line)):
                title = (row.update.summary if row.update is not None else row.summary) or title
    return title.strip() or _asked(head)


def _asked(head: bytes) -> str:
    """Return the first line of the first request, of a log whose session nobody has named."""
    for line in head.split(b"\n", 50)[:50]:
        row = _row(line) if b'"user"' in line else None
        if row is not None and row.type == "user":
            said = [piece.text for piece in pieces_of(listed(row.content), text_of(row.display))
                    if piece.origin == "human"]  # fmt: skip
            if said:
                return said[0].split("\n")[0][:200]
    return ""


def _plain(value: bytes) -> str:
    try:
        return str(msgspec.json.decode(b'"' + value + b'"'))
    except (msgspec.DecodeError, UnicodeDecodeError):
        return ""


def _parent(path: Path, kind: str) -> str:
    """A subagent's log lies in a folder that is called by its parent's id."""
    return safe_id(path.parent.name) if kind == "subagent" and path.parent.parent.name == "chats" else ""


def _name_of(path: Path) -> str:
    return safe_id(path.name.removesuffix(".jsonl").removesuffix(".json"))


def folder_of(path: Path) -> str:
    """Return the folder that a log's project stands for, empty when its store does not say."""
    chats = next((folder for folder in (path.parent, path.parent.parent) if folder.name == "chats"), None)
    if chats is None:
        return ""
    project = chats.parent
    try:
        root = read_bounded(project / ".project_root", 8192).decode("utf-8", "replace").strip()
        if root:
            return root
    except (OSError, PassdownError):
        pass
    return _registered(project.parent.parent / "projects.json", project.name)


def _registered(registry: Path, name: str) -> str:
    try:
        known = msgspec.json.decode(read_bounded(registry, 4 << 20))
    except (OSError, PassdownError, *BAD):
        return ""
    projects = known.get("projects") if isinstance(known, dict) else None
    for folder, short in projects.items() if isinstance(projects, dict) else ():
        if short == name or hashlib.sha256(folder.encode("utf-8", "replace")).hexdigest() == name:
            return str(folder)
    return ""


def read(ref: SessionRef, *, max_line: int = MAX_LINE) -> Iterator[AnyEvent]:
    """Yield the session's events in file order, first a `SessionStart`, last a `SessionEnd`.

    A line longer than `max_line` bytes is passed over and reported. Raises `FileNotFoundError` when the file is gone.
    """
    path = Path(ref.path)
    with open_log(path) as stream:
        head = stream.read(HEAD)
    ends = ends_of(path)
    found = _head(head, ends.tail if ends is not None else b"")
    parent = _parent(path, found.kind)
    yield SessionStart(
        session_id=found.session_id or ref.session_id or _name_of(path),
        agent="gemini",
        cwd=folder_of(path),
        parent_id=parent,
        parent_kind="subagent" if parent else "",
        at=found.started_at,
    )
    if _is_document(head):
        yield from _read_document(path, Reader(subagent=found.kind == "subagent"))
    else:
        yield from _read_log(path, Reader(subagent=found.kind == "subagent"), max_line)


def _is_document(head: bytes) -> bool:
    """Say whether the file is one document over many lines, and not one record a line."""
    first, _, rest = head.strip(b"\x00\xef\xbb\xbf \t\r\n").partition(b"\n")
    return _row(first) is None and _row(rest.split(b"\n", 1)[0]) is None and b'"messages"' in head[:4096]


def _read_document(path: Path, reader: Reader) -> Iterator[AnyEvent]:
    records = size = 0
    for item in messages_in(path):
        records, size = item.number, item.size
        if isinstance(item.found, Unknown):
            yield item.found
        elif item.found is not None:
            yield from reader.message(item.found, {"offset": item.offset})
        else:
            yield from reader.titled(item.title, {"offset": 0})
    yield SessionEnd(records=records, bytes=size, offset=size, ignored=dict(reader.ignored))


def _read_log(path: Path, reader: Reader, max_line: int) -> Iterator[AnyEvent]:
    taken_back = _rewound(path, max_line)
    log: Log[Row] = Log(path, ROW.decode, max_line=max_line)
    for line, item in log:
        place: dict[str, Any] = {"offset": line.offset, "line": line.number, "active": line.number not in taken_back}
        if isinstance(item, Unknown):
            yield item
        elif item.rewind is not None:
            reader.ignored["$rewindTo"] += 1
        elif item.update is not None:
            yield from _updated(reader, item.update.messages, item.update.summary, place, snapshot=True)
            if item.update.messages is None and item.update.summary is None:
                reader.ignored["$set"] += 1
        elif item.id is None and item.session_id:
            yield from _updated(reader, item.messages, item.summary, place, snapshot=False)
        else:
            for event in reader.message(item, place):
                if isinstance(event, Unknown):
                    event = msgspec.structs.replace(event, length=line.length)
                yield event
    yield SessionEnd(records=log.records, bytes=log.size, offset=log.size, ignored=dict(reader.ignored))


def _updated(
    reader: Reader, messages: list[msgspec.Raw] | None, summary: str | None, place: dict[str, Any], *, snapshot: bool
) -> Iterator[AnyEvent]:
    yield from reader.titled(summary, place)
    rows: list[Row] = []
    for raw in messages or ():
        try:
            rows.append(ROW.decode(raw))
        except BAD:
            yield Unknown(reason="bad_shape", length=len(bytes(raw)), offset=place["offset"], line=place["line"])
    if messages is not None and snapshot:
        yield from reader.replaced([row.id or "" for row in rows], rows[0] if rows else None, place)
    for row in rows:
        yield from reader.message(row, place, snapshot=snapshot)


def _rewound(path: Path, max_line: int) -> frozenset[int]:
    """Return the numbers of the lines whose messages were taken back later. A log without a rewind is not decoded."""
    order: dict[str, list[int]] = {}
    off: set[int] = set()
    if not _holds(path, b'"$rewindTo"'):
        return frozenset()
    for line in read_file_lines(path, max_line=max_line):
        try:
            mark = MARK.decode(line.data or b"")
        except BAD:
            continue
        if mark.rewind is not None:
            found = mark.rewind in order  # a target that is not there takes everything back
            while order:
                identity, lines = order.popitem()
                off.update(lines)
                if found and identity == mark.rewind:
                    break
        elif mark.id is not None:
            order.setdefault(mark.id, []).append(line.number)
    return frozenset(off)


def _holds(path: Path, wanted: bytes) -> bool:
    carry = b""
    with open_log(path) as stream:
        while chunk := stream.read(1 << 20):
            if wanted in carry + chunk:
                return True
            carry = chunk[-len(wanted) :]
    return False
