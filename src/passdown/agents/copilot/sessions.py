"""Copilot CLI's sessions: `<home>/session-state/<id>/events.jsonl`, before 1.0 `<home>/session-state/<id>.jsonl`.

The producer is closed; the shapes are the published SDK's and those of real logs. A rewind takes events out of the log,
so that everything in it is active. Subagents' events stand between those of the main agent. Logs of before 1.0.10x tell
what a response put out, not what it took in.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from passdown.agents.copilot.reader import Reader, is_passed_over
from passdown.agents.copilot.records import Context, Entry, Start, decode, is_read
from passdown.errors import PassdownError
from passdown.io.files import read_bounded
from passdown.io.jsonl import MAX_LINE, Line
from passdown.io.log import Log, ends_of, first_in, milliseconds, newest_first, safe_id
from passdown.model.pattern import lazy_pattern
from passdown.model.session import AnyEvent, SessionEnd, SessionRef, SessionStart, Unknown

_NAME = lazy_pattern(r"(?m)^(?:name|summary):[ \t]*(?:\"(.{0,300}?)\"|'(.{0,300}?)'|([^\"'\s|>].{0,300}?))[ \t\r]*$")


def recognise(head: bytes, name: str) -> bool:  # noqa: ARG001 - content decides, never the name
    """Say whether a file that starts with `head` is a Copilot session."""
    for text in head.split(b"\n", 20)[:20]:
        entry = _entry(text)
        if entry is None or not bytes(entry.envelope.data).startswith(b"{"):
            continue
        kind = entry.envelope.type
        if "." in kind and b'"parentId"' in text and (is_read(kind) or is_passed_over(kind)):
            return True
    return False


def _entry(text: bytes) -> Entry | None:
    return first_in(text, decode)


def find(home: Path) -> Iterator[SessionRef]:
    """Yield the sessions under Copilot's folder, newest first. Links and files that cannot be read are left out."""
    for path in newest_first(home / "session-state", "*/events.jsonl", "*.jsonl"):
        ref = refer(path)
        if ref is not None:
            yield ref


def refer(path: Path) -> SessionRef | None:
    """Return what the ends of a log say of its session, None when it cannot be read or is none."""
    ends = ends_of(path)
    if ends is None:
        return None
    first = _entry(ends.head.lstrip(b"\x00\xef\xbb\xbf \t\r\n").split(b"\n", 1)[0])
    start = first.data if first is not None and isinstance(first.data, Start) else None
    if start is None and not recognise(ends.head, path.name):  # where it is lost, the rest may be there
        return None
    stamp, start = first.envelope.timestamp if first is not None else None, start or Start()
    context = _last_context(ends.head, ends.tail) or start.context or Context()
    repository = context.repository or ""
    return SessionRef(
        agent="copilot",
        path=str(path),
        session_id=safe_id(start.session_id) or _name_of(path),
        bytes=ends.size,
        started_at=milliseconds(start.start_time) or milliseconds(stamp),
        modified_at=ends.modified,
        cwd=context.cwd or "",
        branch=context.branch or "",
        title=_title(path),
        parent_id=safe_id(start.detached_from_spawning_parent_session_id),
        commit=context.head_commit or "",
        remote=f"https://{context.repository_host}/{repository}" if repository and context.repository_host else "",
    )


def _last_context(head: bytes, tail: bytes) -> Context | None:
    """Return the place that the session was last resumed in or moved to, as far as the ends of the log say."""
    for text in reversed((head + b"\n" + tail).split(b"\n")):
        if b'"session.resume"' in text[:200] or b'"session.context_changed"' in text[:200]:
            entry = _entry(text)
            context = None if entry is None else entry.data
            context = context.context if isinstance(context, Start) else context
            if isinstance(context, Context) and context.cwd:
                return context
    return None


def _name_of(path: Path) -> str:
    return safe_id(path.parent.name if path.name == "events.jsonl" else path.name.split(".")[0])


def _title(path: Path) -> str:
    if path.name != "events.jsonl":
        return ""
    try:
        text = read_bounded(path.parent / "workspace.yaml", 64 << 10).decode("utf-8", "replace")
    except (OSError, PassdownError):
        return ""
    match = _NAME.search(text)
    return (match[1] or match[2] or match[3] or "").strip() if match else ""


def read(ref: SessionRef, *, max_line: int = MAX_LINE) -> Iterator[AnyEvent]:
    """Yield the session's events in file order, first a `SessionStart`, last a `SessionEnd`.

    A line longer than `max_line` bytes is passed over and reported. Raises `FileNotFoundError` when the file is gone.
    """
    reader = Reader()
    log: Log[Entry] = Log(Path(ref.path), decode, max_line=max_line)
    begun = False
    for line, item in log:
        if not begun:
            begun = True
            yield _start(ref, item, line)
            if isinstance(item, Entry) and item.envelope.type == "session.start":
                reader.begin(item.data)
                continue
        if isinstance(item, Unknown):
            yield item
        else:
            yield from reader.add(item, line)
    if not begun:
        yield _start(ref, None, None)
    yield SessionEnd(records=log.records, bytes=log.size, offset=log.size, ignored=dict(reader.ignored))


def _start(ref: SessionRef, item: Entry | Unknown | None, line: Line | None) -> SessionStart:
    """Return the session's first record as an event; without one, what the file's name says."""
    name = _name_of(Path(ref.path))
    if not isinstance(item, Entry) or not isinstance(item.data, Start) or line is None:
        return SessionStart(session_id=ref.session_id or name, agent="copilot")
    start = item.data
    context = start.context or Context()
    parent = safe_id(start.detached_from_spawning_parent_session_id)
    return SessionStart(
        session_id=safe_id(start.session_id) or ref.session_id or name,
        agent="copilot",
        agent_version=start.copilot_version or "",
        cwd=context.cwd or "",
        branch=context.branch or "",
        commit=context.head_commit or "",
        parent_id=parent,
        parent_kind="continuation" if parent else "",
        originator=start.producer or "",
        at=milliseconds(item.envelope.timestamp) or milliseconds(start.start_time),
        offset=line.offset,
        line=line.number,
    )
