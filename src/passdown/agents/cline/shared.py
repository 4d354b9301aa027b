"""How tasks of Cline, Roo and Kilo are read: `tasks/<id>/api_conversation_history.json` is the conversation with the
model, `ui_messages.json` beside it what the person saw.

Both are written whole each time, so that a crash leaves them cut off. A task that condensed its conversation keeps what
was condensed in Roo, and loses it in Cline.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from passdown.agents.cline.reader import Reader
from passdown.agents.cline.screen import Rows, Screen, look_at
from passdown.agents.cline.store import SCREEN, TASK, record_beside, refer_task
from passdown.agents.cline.words import folder_in
from passdown.agents.dialogue import decoded, moment, part_of, text_in, text_of
from passdown.agents.document import Document, Item, read_document
from passdown.errors import PassdownError
from passdown.io.files import open_regular
from passdown.io.log import safe_id
from passdown.model.pattern import lazy_pattern
from passdown.model.session import AnyEvent, SessionEnd, SessionRef, SessionStart, Title, Unknown

_MESSAGES = lazy_pattern(rb'\A\s*\[\s*\{[^{}\[\]]{0,400}"role"\s*:\s*"(?:user|assistant)"')
_ROWS = lazy_pattern(rb'\A\s*\[\s*\{[^{}\[\]]{0,400}"type"\s*:\s*"(?:say|ask)"')
_NEWER = lazy_pattern(rb'\A\s*\{[^\[\]]{0,1000}"sessionId"\s*:[^\[\]]{0,1000}"messages"\s*:\s*\[')
_MARKS = (b"<task>", b"<user_message>", b"<environment_details>", b"<feedback>")


def is_task(head: bytes) -> bool:
    """Say whether a file that starts with `head` is one of a task's files."""
    start = head.removeprefix(b"\xef\xbb\xbf")
    return (_MESSAGES.match(start) is not None and any(mark in head for mark in _MARKS)) or (
        _ROWS.match(start) is not None
    )


def is_newer(head: bytes) -> bool:
    """Say whether a file that starts with `head` is a conversation of Cline's newer store."""
    return _NEWER.match(head.removeprefix(b"\xef\xbb\xbf")) is not None and b'"role"' in head


def read_task(agent: str, ref: SessionRef) -> Iterator[AnyEvent]:
    """Yield the events of a task or session in order, first a `SessionStart`, last a `SessionEnd`.

    Raises `FileNotFoundError` when the file is gone.
    """
    path = Path(ref.path)
    with open_regular(path) as stream:
        head = stream.read(1 << 16).removeprefix(b"\xef\xbb\xbf")
    if path.name == SCREEN and path.with_name(TASK).is_file():
        path = path.with_name(TASK)
    elif _ROWS.match(head):
        yield from _rows(agent, path, ref)
        return
    if head.lstrip(b"\x00 \t\r\n").startswith(b"{"):
        yield from _newer(agent, path, ref)
    else:
        yield from _task(agent, path, ref)


def _task(agent: str, path: Path, ref: SessionRef) -> Iterator[AnyEvent]:
    document = read_document(path)
    screen = look_at(_beside(path))
    known = refer_task(agent, path)
    known = known if known is not None and path.name == TASK else ref
    cwd = known.cwd or _folder(document)
    yield SessionStart(
        session_id=ref.session_id or known.session_id or safe_id(path.parent.name), agent=agent, cwd=cwd,
        parent_id=known.parent_id, parent_kind="subagent" if known.parent_id else "",
        at=screen.began or known.started_at,
    )  # fmt: skip
    if title := known.title or screen.title[:300]:
        yield Title(title=title, at=screen.began)
    yield from _conversation(document, Reader(screen))


def _beside(path: Path) -> Document | None:
    try:
        return read_document(path.with_name(SCREEN)) if path.name == TASK else None
    except (OSError, PassdownError):
        return None


def _folder(document: Document) -> str:
    for item in document.items[:1]:
        message = decoded(item.data) if item.data is not None else None
        return folder_in(text_of(message.get("content"))) if isinstance(message, dict) else ""
    return ""


def _newer(agent: str, path: Path, ref: SessionRef) -> Iterator[AnyEvent]:
    document = read_document(path, "messages")
    around = {name: decoded(raw) for name, raw in document.around.items()}
    told = record_beside(path) if path.name.endswith(".messages.json") else {}
    parent = safe_id(text_in(told, "parent_session_id"))
    began = moment(told.get("started_at"))
    yield SessionStart(
        session_id=safe_id(text_in(around, "sessionId")) or ref.session_id, agent=agent, cwd=text_in(told, "cwd"),
        parent_id=parent, parent_kind="subagent" if parent else "", at=began,
        originator=text_in(part_of(around, "origin"), "source")[:80],
    )  # fmt: skip
    if title := text_in(part_of(told, "metadata"), "title"):
        yield Title(title=title, at=began)
    yield from _conversation(document, Reader(Screen([], [], "", began), plain=True))


def _conversation(document: Document, reader: Reader) -> Iterator[AnyEvent]:
    for item in document.items:
        message = decoded(item.data) if item.data is not None else None
        if isinstance(message, dict):
            yield from reader.add(message, item.offset, item.length)
        else:
            yield _lost(item)
    yield from reader.finish()
    records = len(document.items)
    yield SessionEnd(records=records, bytes=document.size, offset=document.size, ignored=dict(reader.ignored))


def _rows(agent: str, path: Path, ref: SessionRef) -> Iterator[AnyEvent]:
    document = read_document(path)
    screen, rows = look_at(document), Rows()
    identifier = ref.session_id or safe_id(path.parent.name)
    yield SessionStart(session_id=identifier, agent=agent, cwd=ref.cwd, at=screen.began)
    if screen.title:
        yield Title(title=screen.title[:300], at=screen.began)
    for item in document.items:
        row = decoded(item.data) if item.data is not None else None
        if isinstance(row, dict):
            yield from rows.add(row, item.offset, item.length)
        else:
            yield _lost(item)
    records = len(document.items)
    yield SessionEnd(records=records, bytes=document.size, offset=document.size, ignored=dict(rows.ignored))


def _lost(item: Item) -> Unknown:
    if item.long:
        return Unknown(record="message", reason="line_too_long", length=item.length, offset=item.offset)
    reason = "bad_shape" if item.data is not None else "torn_line"
    return Unknown(record="message", reason=reason, length=item.length, offset=item.offset)  # type: ignore[arg-type]
