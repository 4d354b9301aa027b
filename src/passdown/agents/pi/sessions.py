"""Pi's sessions: `<home>/sessions/--<cwd>--/<time>_<uuid>.jsonl`, one entry a line, v1 linear and v2, v3 trees.

Format: `earendil-works/pi`, `packages/coding-agent/docs/session-format.md`. The last entry is the leaf; what is not on
its way to the root was left behind and is read with `active=False`. Pi stores no branch, commit or version of itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import msgspec

from passdown.agents.pi.entries import Entries
from passdown.agents.pi.records import ENTRY, Entry, Header, header_of, parent_of, safe_id
from passdown.agents.pi.tree import abandoned, inherited, mark
from passdown.io.jsonl import MAX_LINE, Line, read_file_lines
from passdown.io.log import ends_of, mended, milliseconds, not_understood
from passdown.model.session import AnyEvent, SessionEnd, SessionRef, SessionStart, Unknown

HEAD = 64 << 10
"""Bytes read at either end of a file to find its sessions."""

_BAD = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_ROLES = frozenset({"user", "assistant", "toolResult", "bashExecution", "custom", "hookMessage"})


def recognise(head: bytes, name: str) -> bool:  # noqa: ARG001 - content decides, never the name
    """Say whether a file that starts with `head` is a Pi session."""
    for line in head.split(b"\n", 20)[:20]:
        if header_of(line) is not None:
            return True
        if b'"session_start"' in line[:200]:
            return False  # droid's messages have the same form
        if b'"message"' in line and b'"parentId"' in line:
            try:
                entry = ENTRY.decode(line)
            except _BAD:
                continue
            if entry.type == "message" and entry.message is not None and entry.message.role in _ROLES:
                return True
    return False


def find(home: Path) -> Iterator[SessionRef]:
    """Yield the sessions under Pi's folder, newest first. Links and files that cannot be read are left out."""
    store = home / "sessions"
    found: list[tuple[float, Path]] = []
    for pattern in ("*.jsonl", "*/*.jsonl"):
        for path in store.glob(pattern):
            try:
                if not path.is_symlink() and not path.parent.is_symlink():
                    found.append((path.stat().st_mtime, path))
            except OSError:
                continue
    for _, path in sorted(found, key=lambda item: (-item[0], str(item[1]))):
        ref = refer(path)
        if ref is not None:
            yield ref


def refer(path: Path) -> SessionRef | None:
    """Return what the ends of a log say of its session, None when it cannot be read or is none."""
    ends = ends_of(path)
    if ends is None:
        return None
    header = header_of(ends.head.lstrip(b"\x00\xef\xbb\xbf \t\r\n").split(b"\n", 1)[0])
    if header is None:
        if not recognise(ends.head, path.name):
            return None
        header = Header(id=_id_in(path.name))  # it is lost, the entries are there
    return SessionRef(
        agent="pi",
        path=str(path),
        session_id=safe_id(header.id),
        bytes=ends.size,
        started_at=milliseconds(header.timestamp),
        modified_at=ends.modified,
        cwd=header.cwd or "",
        title=_title(ends.head + ends.tail),
        parent_id=parent_of(header),
    )


def _id_in(name: str) -> str:
    return safe_id(name.removesuffix(".zst").removesuffix(".jsonl").rpartition("_")[2])


def _title(text: bytes) -> str:
    title = ""
    for line in text.split(b"\n"):
        if b'"session_info"' in line:
            try:
                entry = ENTRY.decode(line)
            except _BAD:
                continue
            if entry.type == "session_info" and entry.name:
                title = entry.name.strip()
    return title


def read(ref: SessionRef, *, max_line: int = MAX_LINE) -> Iterator[AnyEvent]:
    """Yield the session's events in file order, first a `SessionStart`, last a `SessionEnd`.

    A line longer than `max_line` bytes is passed over and reported. Raises `FileNotFoundError` when the file is gone.
    """
    path = Path(ref.path)
    off = abandoned(path, max_line=max_line)
    start, copied = _start(path, ref, max_line)
    yield start
    entries = Entries()
    decode, add, related = ENTRY.decode, entries.add, bool(off or copied)
    records = size = 0
    for line in read_file_lines(path, max_line=max_line):
        offset, number, data, length = line.offset, line.number, line.data, line.length
        size = offset + length + line.complete
        records += 1
        found: tuple[Entry | Unknown, ...]
        try:
            entry = decode(data)  # type: ignore[arg-type]
        except TypeError:  # passed over unread
            found = (not_understood(line, "line_too_long"),)
        except _BAD:
            found = tuple(mended(line, ENTRY.decode))
            records -= not found
        else:
            if entry.type != "session":
                if not related:
                    yield from add(entry, offset, number, length, True, False)
                    continue
                known = mark(entry.id or "", data or b"")
                yield from add(entry, offset, number, length, known not in off, known in copied)
                continue
            found = (entry,)
        for item in found:
            if isinstance(item, Unknown):
                yield item
            elif number != start.line or item.type != "session":
                known = mark(item.id or "", data or b"") if related else 0
                yield from add(item, offset, number, length, known not in off, known in copied)
    yield SessionEnd(records=records, bytes=size, offset=size, ignored=dict(entries.ignored))


def _start(path: Path, ref: SessionRef, max_line: int) -> tuple[SessionStart, frozenset[int]]:
    """Return the session's header as an event, and the marks of the entries that belong to its parent."""
    header, line = _header(path, max_line)
    if header is None:
        return SessionStart(session_id=ref.session_id or _id_in(path.name), agent="pi"), frozenset()
    parent = parent_of(header)
    marks = inherited(path, header) if parent else None
    start = SessionStart(
        session_id=safe_id(header.id) or ref.session_id,
        agent="pi",
        cwd=header.cwd or "",
        parent_id=parent,
        parent_kind=_kinship(path, marks, max_line) if parent else "",
        at=milliseconds(header.timestamp),
        offset=line.offset if line else 0,
        line=line.number if line else 0,
    )
    return start, marks or frozenset()


def _header(path: Path, max_line: int) -> tuple[Header | None, Line | None]:
    for line in read_file_lines(path, max_line=max_line):
        if line.data is not None and (header := header_of(line.data)) is not None:
            return header, line
        if line.number >= 20:
            break
    return None, None


def _kinship(path: Path, parent: frozenset[int] | None, max_line: int) -> Literal["fork", "continuation"]:
    """A fork starts with its parent's entries; a session begun out of another one (`newSession`) has only its own."""
    if parent is None:
        return "fork"
    for line in read_file_lines(path, max_line=max_line):
        if line.data is None or header_of(line.data) is not None:
            continue
        try:
            entry = ENTRY.decode(line.data)
        except _BAD:
            continue
        return "fork" if mark(entry.id or "", line.data) in parent else "continuation"
    return "continuation"
