"""Claude Code's sessions: `<home>/projects/<slug>/<session>.jsonl`, subagents' files in a folder beside it.

The format is not published. A row is written for every content block, a subagent's rows stand in a file of its own
(2.x), in `agent_progress` rows (2.1.1 to 2.1.81) or between the main agent's (1.x). The folder's name loses
characters, so the working directory is taken from the rows.
"""

from __future__ import annotations

import io
import os
import time
from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Raw, Struct

from passdown.agents.claude_code.outline import ENDS, Outline, outline, read_ends, recognise
from passdown.agents.claude_code.reader import Reader
from passdown.agents.claude_code.records import BAD, ROW, TICK, TICK_WITHIN, Row, identifier, salvaged, tick_at
from passdown.agents.claude_code.turns import Straight, taken_back
from passdown.errors import FormatError, UnsafeError
from passdown.io.files import read_bounded
from passdown.io.jsonl import CHUNK, MAX_LINE, Line, open_log, read_file_lines, read_lines, size_of
from passdown.model.session import AnyEvent, SessionEnd, SessionRef, SessionStart, Unknown, Unread

__all__ = ["find", "read", "read_sparing", "recognise", "refer"]

MAX_DOCUMENT = 256 << 20
"""Largest web session, in bytes; it is one JSON document and read whole."""

_SETTLED_NS = 50_000_000
"""A file changed so shortly ago may change again without a change of its time."""

_INTERNAL = ("agent-acompact-", "agent-aprompt_suggestion-")
"""Names of files in which the program itself works, not a subagent that was asked to."""


class _Web(Struct):
    loglines: list[Raw]


def find(home: Path) -> Iterator[SessionRef]:
    """Yield the sessions under Claude Code's folder, newest first. Links and files that cannot be read are left out."""
    found: list[tuple[int, Path]] = []
    for path in (home / "projects").glob("*/*.jsonl"):
        try:
            if not (path.name.startswith("agent-") or path.is_symlink() or path.parent.is_symlink()):
                found.append((path.stat().st_mtime_ns, path))
        except OSError:
            continue
    for _, path in sorted(found, key=lambda item: (-item[0], str(item[1]))):
        if (ref := refer(path)) is not None:
            yield ref


def refer(path: Path) -> SessionRef | None:
    """Return what the ends of a log say of its session, None when it cannot be read or is none."""
    try:
        head, _, known = _glance(path)
        modified = path.stat().st_mtime_ns
    except (OSError, UnsafeError):
        return None
    if not known.talk or not recognise(head, path.name):
        return None
    return SessionRef(
        agent="claude_code",
        path=str(path),
        session_id=identifier(known.session_id) or identifier(path.stem),
        bytes=known.size,
        started_at=known.started_at,
        modified_at=modified // 1_000_000,
        cwd=known.cwd,
        branch=known.branch,
        title=known.title,
        parent_id=known.parent_id,
        parent_kind=known.parent_kind,
    )


def read(ref: SessionRef, *, max_line: int = MAX_LINE) -> Iterator[AnyEvent]:
    """Yield the session's events in file order, then those of its subagents' own files.

    The first event is a `SessionStart`, the last a `SessionEnd`. Two kinds of event come late, with the place of the
    row they belong to: the tokens of a response when it is over, and a subagent's start when a row tells its id.
    Raises `FileNotFoundError` when the file is gone.
    """
    return _events(ref, max_line, None)


def read_sparing(ref: SessionRef, unread: Unread) -> Iterator[AnyEvent]:  # noqa: ARG001
    """Yield what `read` does, with one look at the file where `read` takes two.

    Raises `TakenBackError` where the session may have taken back what was read before.
    """
    return _events(ref, MAX_LINE, Straight())


def _events(ref: SessionRef, max_line: int, straight: Straight | None) -> Iterator[AnyEvent]:
    path = Path(ref.path)
    head, tail, known = _glance(path, ref.session_id)
    yield _start(known)
    if b'"loglines"' in head and head.lstrip().startswith(b"{"):
        yield from _document(path, known.size)
        return
    sidecars = [] if known.agent_id else _sidecars(path, known.session_id)
    reader = Reader(known.session_id, frozenset(agent for agent, _ in sidecars))
    reader.place(known.cwd, known.first_branch)
    reader.ours = _present(path, known.leaves)
    data = _whole(path, known.size, head + tail)
    off = None if straight else taken_back(path, data)
    log = _Log(path, reader, max_line, agent=known.agent_id, off=off, data=data, straight=straight)
    yield from log.events()
    records, ended = log.records, log.size
    for agent, sidecar in sidecars:
        try:
            log = _Log(sidecar, reader, max_line, agent=agent)
            yield from log.events()
        except (OSError, UnsafeError):
            continue
        records, ended = records + log.records, ended + log.size
    yield SessionEnd(records=records, bytes=ended, ignored=dict(sorted(reader.ignored.items())))


def _glance(path: Path, session_id: str = "") -> tuple[bytes, bytes, Outline]:
    """Return a log's two ends and what they say; not read anew for who asks twice in a row."""
    status = path.lstat()
    name = session_id or path.name.partition(".")[0]
    if status.st_ctime_ns > time.time_ns() - _SETTLED_NS:
        return _look(path, name)
    return _looked(path, name, (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns))


def _look(path: Path, session_id: str) -> tuple[bytes, bytes, Outline]:
    head, tail, size = read_ends(path)
    return head, tail, outline(path, head, tail, size, session_id=session_id)


@lru_cache(maxsize=1)
def _looked(path: Path, session_id: str, _stamp: tuple[int, ...]) -> tuple[bytes, bytes, Outline]:
    return _look(path, session_id)


def _whole(path: Path, size: int, ends: bytes) -> bytes | None:
    """Return all of a log that is short, since it is gone through twice; None for another."""
    if size > CHUNK:
        return None
    if len(ends) == size != ENDS:
        return ends
    with open_log(path) as stream:
        return None if size_of(stream) is None else stream.read(size)


def _start(known: Outline) -> SessionStart:
    return SessionStart(
        session_id=known.agent_id or known.session_id,
        agent="claude_code",
        agent_version=known.version,
        cwd=known.cwd,
        branch=known.first_branch,
        parent_id=known.parent_id,
        parent_kind=known.parent_kind,
        originator=known.entrypoint,
        at=known.started_at,
        agent_id=known.agent_id,
    )


class _Log:
    """One file on its way through the reader: `records` and `size` (bytes) count what was read of it."""

    def __init__(
        self,
        path: Path,
        reader: Reader,
        max_line: int,
        *,
        agent: str = "",
        off: list[tuple[int, int]] | None = None,
        data: bytes | None = None,
        straight: Straight | None = None,
    ) -> None:
        self.data, self.straight = data, straight
        self.path, self.reader, self.max_line, self.agent = path, reader, max_line, agent
        self.starts = [start for start, _ in off or ()]
        self.ends = [end for _, end in off or ()]
        self.records = self.size = 0

    def events(self) -> Iterator[AnyEvent]:
        """Yield the file's events."""
        reader, out, agent = self.reader, self.reader.out, self.agent
        line: Line | None = None
        decode, take, straight = ROW.decode, reader.take, self.straight
        for line in self._lines():
            offset, number, data, length = line.offset, line.number, line.data, line.length
            if data is not None and (not data or data.isspace()):
                continue
            self.records += 1
            if data is not None and (found := data.find(TICK, 0, TICK_WITHIN)) >= 0 and (tick := tick_at(data, found)):
                reader.tick(tick)
                if straight:
                    straight.tick(data)
                continue
            where: dict[str, Any] = {"offset": offset, "line": number}
            if self.starts and self._left_behind(offset):
                where["active"] = False
            if data is None:
                out.append(Unknown(reason="line_too_long", length=length, **where))
            else:
                try:
                    row = decode(data)
                    if straight:
                        straight.row(row)
                    take(row, where, length, sidecar=agent)
                except BAD:
                    if straight:
                        straight.broken(data)
                    self._salvage(line, data, where)
            if out:
                yield from out
                out.clear()
        self.size = line.offset + line.length + line.complete if line is not None else 0
        reader.close()
        yield from out
        out.clear()

    def _lines(self) -> Iterator[Line]:
        if self.data is None:
            return read_file_lines(self.path, max_line=self.max_line)
        return read_lines(io.BytesIO(self.data), max_line=self.max_line)

    def _salvage(self, line: Line, data: bytes, where: dict[str, Any]) -> None:
        for row in salvaged(line, data, where):
            if isinstance(row, Row):
                self.reader.take(row, dict(where), line.length, sidecar=self.agent)
            else:
                self.reader.out.append(row)

    def _left_behind(self, offset: int) -> bool:
        number = bisect_right(self.starts, offset) - 1
        return number >= 0 and offset < self.ends[number]


def _document(path: Path, size: int) -> Iterator[AnyEvent]:
    """Yield the events of a web session, whose rows stand in one JSON document."""
    reader = Reader()
    records = 0
    try:
        data = read_bounded(path, MAX_DOCUMENT)
        rows = msgspec.json.decode(data, type=_Web).loglines
    except FormatError:
        yield Unknown(reason="line_too_long", length=size)
        rows = []
    except BAD:
        yield Unknown(reason="bad_json", length=size)
        rows = []
    position = 0
    for raw in rows:
        text = bytes(raw)
        position = max(data.find(text, position), position)
        records += 1
        where: dict[str, Any] = {"offset": position, "line": records}
        position += len(text)
        try:
            reader.take(ROW.decode(text), where, len(text))
        except BAD:
            yield Unknown(reason="bad_shape", length=len(text), **where)
        yield from reader.out
        reader.out.clear()
    reader.close()
    yield from reader.out
    yield SessionEnd(records=records, bytes=size, ignored=dict(sorted(reader.ignored.items())))


def _sidecars(path: Path, session_id: str) -> list[tuple[str, Path]]:
    """Return the subagents that have a file of their own, by name: in the session's folder, or (2.0) beside its log."""
    changed = _changed(path.parent)
    beside = _beside if changed < time.time_ns() - _SETTLED_NS else _beside.__wrapped__
    flats, folders = beside(path.parent, changed)
    own = path.name.partition(".")[0]
    found: list[tuple[str, Path]] = []
    if own in folders and not (folder := path.parent / own / "subagents").is_symlink():
        found += _named(folder, _names(folder))
    known = {agent for agent, _ in found}
    for agent, flat in flats:
        if agent not in known and flat != path and _owner(flat, _changed(flat)) == session_id:
            found.append((agent, flat))
    return found


def _names(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208
    except OSError:
        return []


def _named(folder: Path, names: list[str]) -> list[tuple[str, Path]]:
    """Return the subagents' files among a folder's names; links and the program's own workers are left out."""
    return [
        (agent, path)
        for name in sorted(names)
        if name.startswith("agent-") and name.endswith(".jsonl") and not name.startswith(_INTERNAL)
        if (agent := identifier(name[len("agent-") : -len(".jsonl")])) and not (path := folder / name).is_symlink()
    ]


# A project's folder holds thousands of logs, and each of them asks for the same: remembered until it changes.


@lru_cache(maxsize=16)
def _beside(folder: Path, _changed: int) -> tuple[list[tuple[str, Path]], frozenset[str]]:
    """Return the subagents' files in a project's folder, and the folders that sessions have in it."""
    names = _names(folder)
    folders = (name for name in names if not name.endswith(".jsonl"))
    return _named(folder, names), frozenset(name for name in folders if not (folder / name).is_symlink())


@lru_cache(maxsize=4096)
def _owner(path: Path, _changed: int) -> str | None:
    """Return the session that a subagent's file is of, None for a file that is no subagent's."""
    try:
        known = _look(path, "")[2]
    except (OSError, UnsafeError):
        return None
    return known.session_id if known.agent_id else None


def _changed(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def _present(path: Path, leaves: tuple[str, ...]) -> frozenset[str]:
    """Return those of the rows' ids that the file holds: a summary may describe another session's."""
    left = {f'"{leaf}"': leaf for leaf in leaves if identifier(leaf)}
    found: set[str] = set()
    if not left:
        return frozenset()
    with open_log(path) as stream:
        before = b""
        while chunk := stream.read(CHUNK):
            data = before + chunk
            for needle, leaf in left.items():
                if b'"uuid":' + needle.encode() in data or b'"uuid": ' + needle.encode() in data:
                    found.add(leaf)
            before = chunk[-256:]
    return frozenset(found)
