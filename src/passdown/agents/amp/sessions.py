"""Amp's sessions: `<home>/threads/T-<id>.json`, one document a thread.

The producer is closed; the shapes are those that other programs read (docs/supported-versions.md): no real file was at
hand. Newer releases keep threads on the server, where nothing of this program reads them.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from passdown.agents.amp.reader import Reader
from passdown.agents.dialogue import decoded, moment, part_of, text_in
from passdown.agents.document import Document, read_document
from passdown.io.log import ends_of, newest_first, safe_id
from passdown.model.pattern import lazy_pattern
from passdown.model.session import AnyEvent, SessionEnd, SessionRef, SessionStart, Title

_ID = lazy_pattern(rb'"id"\s*:\s*"(T-[0-9A-Za-z-]{1,80})"')
_CREATED = lazy_pattern(rb'"created"\s*:\s*(\d{10,16})\b')
_TITLE = lazy_pattern(rb'"title"\s*:\s*("(?:[^"\\]|\\.){0,600}")')
_URI = lazy_pattern(rb'"uri"\s*:\s*"(file://[^"\\]{1,4096})"')
_CWD = lazy_pattern(rb'"cwd"\s*:\s*("(?:[^"\\]|\\.){1,4096}")')


def recognise(head: bytes, name: str) -> bool:  # noqa: ARG001 - content decides, never the name
    """Say whether a file that starts with `head` is an Amp thread."""
    start = head.lstrip(b"\xef\xbb\xbf\x00 \t\r\n")
    return start.startswith(b"{") and b'"messages"' in start and _ID.search(start[:4096]) is not None


def find(home: Path) -> Iterator[SessionRef]:
    """Yield the threads under Amp's data folder, newest first. Links and files that cannot be read are left out."""
    for path in newest_first(home, "threads/T-*.json"):
        if (ref := refer(path)) is not None:
            yield ref


def refer(path: Path) -> SessionRef | None:
    """Return what the ends of a thread's file say of it, None when it cannot be read or is none."""
    ends = ends_of(path)
    if ends is None or not recognise(ends.head, path.name):
        return None
    both = ends.head + ends.tail
    found = _ID.search(ends.head)
    created, title = _CREATED.search(both), _TITLE.search(ends.head) or _TITLE.search(ends.tail)
    return SessionRef(
        agent="amp",
        path=str(path),
        session_id=safe_id(found[1].decode()) if found else "",
        bytes=ends.size,
        started_at=moment(int(created[1])) if created else None,
        modified_at=ends.modified,
        cwd=_cwd(both),
        title=str(decoded(title[1]) or "")[:300] if title else "",
    )


def _cwd(text: bytes) -> str:
    at = text.find(b'"env"')
    if at < 0:
        return ""
    if (uri := _URI.search(text, at)) is not None:
        return _path_of(uri[1].decode("utf-8", "replace"))
    named = _CWD.search(text, at)
    return str(decoded(named[1]) or "") if named else ""


def _path_of(uri: str) -> str:
    """Return the path in a `file:` URI; a path by itself stands for itself."""
    if not uri.startswith("file:"):
        return uri
    try:
        path = unquote(urlsplit(uri).path)
    except ValueError:
        return ""
    return path[1:] if path[2:3] == ":" else path


def read(ref: SessionRef) -> Iterator[AnyEvent]:
    """Yield the thread's events in order, first a `SessionStart`, last a `SessionEnd`.

    Raises `FileNotFoundError` when the file is gone.
    """
    document = read_document(Path(ref.path), "messages")
    reader = Reader(_ledger(document))
    yield from _start(ref, document)
    for item in document.items:
        message = decoded(item.data) if item.data is not None else None
        if isinstance(message, dict):
            yield from reader.add(message, item.offset, item.length)
            continue
        reason = "line_too_long" if item.long else "torn_line" if item.data is None else "bad_shape"
        reader.talk.place(None, item.offset)
        reader.talk.unknown("message", reason, item.length)
        yield from reader.talk.take()
    yield SessionEnd(
        records=len(document.items), bytes=document.size, offset=document.size, ignored=dict(reader.ignored)
    )


def _ledger(document: Document) -> dict[int, dict[str, Any]]:
    events = part_of({"ledger": decoded(document.around.get("usageLedger"))}, "ledger").get("events")
    found: dict[int, dict[str, Any]] = {}
    for event in events if isinstance(events, list) else ():
        named = event.get("toMessageId") if isinstance(event, dict) else None
        if isinstance(named, int):
            found[named] = event
    return found


def _start(ref: SessionRef, document: Document) -> Iterator[AnyEvent]:
    around = {name: decoded(raw) for name, raw in document.around.items() if name != "usageLedger"}
    initial = part_of(around.get("env"), "initial")
    trees = initial.get("trees")
    tree = trees[0] if isinstance(trees, list) and trees and isinstance(trees[0], dict) else {}
    repository = part_of(tree, "repository")
    parent = safe_id(text_in(around, "mainThreadID", "parentThreadID"))
    branch = text_in(repository, "ref").removeprefix("refs/heads/")
    created = moment(around.get("created"))
    yield SessionStart(
        session_id=safe_id(text_in(around, "id")) or ref.session_id or safe_id(Path(ref.path).stem),
        agent="amp",
        agent_version=text_in(part_of(initial, "platform"), "clientVersion"),
        cwd=_path_of(text_in(tree, "uri")) or text_in(initial, "cwd"),
        branch=branch,
        commit=text_in(repository, "sha"),
        parent_id=parent,
        parent_kind="subagent" if parent else "",
        at=created,
    )
    if title := text_in(around, "title"):
        yield Title(title=title, at=created)
