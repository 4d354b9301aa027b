"""Kimi's sessions. Kimi Code: `<home>/sessions/<folder>/<session>/agents/<agent>/wire.jsonl`, one log an agent, with
`state.json` beside `agents`. Kimi CLI: `<home>/sessions/<hash of the folder>/<id>/wire.jsonl`, or `context.jsonl`
alone, with the folders in `<home>/kimi.json`.

Kimi CLI's wire does not say which model answers, and its compactions leave no summary there.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from passdown.agents.kimi.code import Code, is_passed_over
from passdown.agents.kimi.course import Course
from passdown.agents.kimi.outline import outline_of
from passdown.agents.kimi.records import SHAPES, Config, Entry, Stamp, decode
from passdown.agents.kimi.wire import KINDS, Wire
from passdown.errors import PassdownError
from passdown.io.files import read_bounded
from passdown.io.jsonl import MAX_LINE, Line
from passdown.io.log import BAD, Log, ends_of, first_in, milliseconds, newest_first, not_understood, safe_id
from passdown.model.session import AnyEvent, SessionEnd, SessionRef, SessionStart, Title, Unknown

_BOUND = 1 << 20
_LOOKED_AT = 200


def recognise(head: bytes, name: str) -> bool:  # noqa: ARG001 - content decides, never the name
    """Say whether a file that starts with `head` is a Kimi session."""
    for text in head.split(b"\n", 20)[:20]:
        entry = _entry(text)
        if entry is None:
            continue
        kind = entry.envelope.type or ""
        if entry.dialect == "wire":
            return entry.data.type in KINDS and isinstance(entry.envelope.timestamp, (int, float))
        if entry.dialect == "context":
            return entry.envelope.role in ("_system_prompt", "_checkpoint", "_usage")
        if kind == "metadata" and entry.envelope.protocol_version is not None:
            return True
        if "." in kind and (kind in SHAPES or is_passed_over(kind)):
            return isinstance(entry.envelope.time, (int, float))
    return False


def _entry(text: bytes) -> Entry | None:
    return first_in(text, decode)


def find(home: Path) -> Iterator[SessionRef]:
    """Yield the sessions under Kimi's folder, newest first. Links and files that cannot be read are left out."""
    patterns = ("sessions/*/*/agents/*/wire.jsonl", "sessions/*/*/wire.jsonl", "sessions/*/*/context.jsonl")
    for path in newest_first(home, *patterns):
        ref = refer(path)
        if ref is not None:
            yield ref


def refer(path: Path) -> SessionRef | None:
    """Return what the ends of a log say of its session, None when it cannot be read or is none."""
    if path.name == "context.jsonl" and _has_text(path.with_name("wire.jsonl")):
        return None  # the wire tells the same, and more
    ends = ends_of(path)
    if ends is None or not recognise(ends.head, path.name):
        return None
    place, told = _place_of(path), _told(ends.head)
    state = _state_of(place)
    return SessionRef(
        agent="kimi",
        path=str(path),
        session_id=place.session_id,
        bytes=ends.size,
        started_at=told.at,
        modified_at=ends.modified,
        cwd=state.cwd or told.cwd,
        title=state.title,
        parent_id=place.parent_id,
        parent_kind="subagent" if place.parent_id else "",
    )


def _has_text(path: Path) -> bool:
    try:
        return not path.is_symlink() and path.stat().st_size > 0
    except OSError:
        return False


class _Place(NamedTuple):
    """Where a log lies: whose it is. `folder` is the session's own, None where the path does not say."""

    session_id: str
    parent_id: str = ""
    folder: Path | None = None


def _place_of(path: Path) -> _Place:
    if path.name not in ("wire.jsonl", "context.jsonl"):
        return _Place(safe_id(path.name.split(".")[0]))
    agent = path.parent
    if agent.parent.name != "agents":
        return _Place(safe_id(agent.name), "", agent)
    session = safe_id(agent.parent.parent.name)
    if agent.name == "main":
        return _Place(session, "", agent.parent.parent)
    return _Place(safe_id(f"{agent.name}.{session}"), session, agent.parent.parent)


class _State(NamedTuple):
    cwd: str = ""
    title: str = ""


def _state_of(place: _Place) -> _State:
    """Return the folder and the title that the files beside a log tell."""
    if place.folder is None:
        return _State()
    state = _json(place.folder / "state.json")
    cwd = next((state[key] for key in ("cwd", "workDir") if isinstance(state.get(key), str)), "")
    title = state.get("custom_title", state.get("title"))
    if place.parent_id or title in ("Untitled", "New Session"):
        title = ""
    return _State(cwd or _folder_of(place.folder), title if isinstance(title, str) else "")


def _folder_of(session: Path) -> str:
    """Return the folder whose hash Kimi CLI put the session under."""
    listed = _json(session.parents[2] / "kimi.json").get("work_dirs") if len(session.parents) > 2 else None
    for row in listed[:10_000] if isinstance(listed, list) else ():
        path = row.get("path") if isinstance(row, dict) else None
        if isinstance(path, str):
            hashed = hashlib.md5(path.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()
            if session.parent.name in (hashed, f"{row.get('kaos')}_{hashed}"):
                return path
    return ""


def _json(path: Path) -> dict[str, Any]:
    try:
        value = msgspec.json.decode(read_bounded(path, _BOUND))
    except (OSError, PassdownError, *BAD):
        return {}
    return value if isinstance(value, dict) else {}


class _Told(NamedTuple):
    at: int | None = None
    cwd: str = ""


def _told(head: bytes) -> _Told:
    """Return when and in which folder a log's first records say that the session began."""
    at: int | None = None
    for text in head.split(b"\n", _LOOKED_AT)[:_LOOKED_AT]:
        entry = _entry(text)
        if entry is None:
            continue
        at = _at(entry) if at is None else at
        if isinstance(entry.data, Config):
            disclosed = entry.data.environment_disclosure
            cwd = entry.data.cwd or (disclosed.get("cwd") if isinstance(disclosed, dict) else None)
            if isinstance(cwd, str) and cwd:
                return _Told(at, cwd)
    return _Told(at)


def _at(entry: Entry) -> int | None:
    envelope = entry.envelope
    stamp: Stamp = envelope.timestamp if entry.dialect == "wire" else envelope.time
    return milliseconds(envelope.created_at if stamp is None else stamp)


def read(ref: SessionRef, *, max_line: int = MAX_LINE) -> Iterator[AnyEvent]:
    """Yield the session's events in file order, first a `SessionStart`, last a `SessionEnd`.

    A line longer than `max_line` bytes is passed over and reported. Raises `FileNotFoundError` when the file is gone.
    """
    path = Path(ref.path)
    outline = outline_of(path, max_line)
    place, ends = _place_of(path), ends_of(path)
    told, state = _told(ends.head if ends is not None else b""), _state_of(place)
    cwd = state.cwd or told.cwd
    yield SessionStart(
        session_id=place.session_id or ref.session_id,
        agent="kimi", cwd=cwd, at=told.at, parent_id=place.parent_id, parent_kind="subagent" if place.parent_id else "",
    )  # fmt: skip
    if state.title:
        yield Title(title=state.title, at=told.at)
    course = Course()
    course.cwd = cwd
    code, wire = Code(course), Wire(course)
    log: Log[Entry] = Log(path, decode, max_line=max_line)
    for line, item in log:
        course.events = []
        if isinstance(item, Unknown):
            yield item
            continue
        course.base = {"at": _at(item), "offset": line.offset, "line": line.number, **outline.marks(line.number)}
        course.key = f"line-{line.number}"
        known = _add(item, code, wire)
        yield from course.events
        if not known:
            yield _unknown(item, line)
    course.events = []
    wire.finish()
    code.finish()
    yield from course.events
    yield SessionEnd(records=log.records, bytes=log.size, offset=log.size, ignored=dict(course.ignored))


def _add(entry: Entry, code: Code, wire: Wire) -> bool:
    if entry.dialect == "code":
        return code.add(entry.envelope.type or "", entry.data)
    if entry.dialect == "wire":
        return wire.add(entry.data)
    return wire.row(entry.data)


def _unknown(entry: Entry, line: Line) -> Unknown:
    kind = entry.envelope.type or (entry.data.type if entry.dialect == "wire" else entry.envelope.role) or ""
    return not_understood(line, "unknown_type" if kind else "bad_shape", kind)
