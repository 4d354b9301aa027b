"""Qwen Code's sessions: `<home>/projects/<folder>/chats/<id>.jsonl`, one record a line, a chain with branches.

A rewind begins a new branch: what is not on the way from the last record to the root is read with `active=False`. A
branched session repeats its parent's records and says so in each (`forkedFrom`): they are read with `copied=True`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from passdown.agents.qwen.reader import Reader
from passdown.agents.qwen.records import RECORD, Record, payload_of, text_of
from passdown.agents.qwen.tree import abandoned
from passdown.io.jsonl import MAX_LINE, open_log
from passdown.io.log import Log, ends_of, first_in, head_of, milliseconds, newest_first, safe_id
from passdown.model.session import AnyEvent, SessionEnd, SessionRef, SessionStart, Unknown

_TYPES = frozenset({"user", "assistant", "tool_result", "system"})
_OWN = (b'"parts"', b'"subtype"', b'"toolCallResult"', b'"provenance"', b'"systemPayload"')


def recognise(head: bytes, name: str) -> bool:  # noqa: ARG001 - content decides, never the name
    """Say whether a file that starts with `head` is a Qwen session."""
    for line in head.split(b"\n", 20)[:20]:
        if b'"uuid"' not in line or b'"parentUuid"' not in line or not any(word in line for word in _OWN):
            continue
        record = _record(line)
        if record is None or record.type not in _TYPES or not record.session_id:
            continue
        if record.type == "system":
            # Claude Code has system records too, whose payload stands in the record itself.
            return bytes(record.system_payload).startswith(b"{")
        return record.message is not None and record.message.parts is not None
    return False


def _record(line: bytes) -> Record | None:
    return first_in(line, RECORD.decode)


def find(home: Path) -> Iterator[SessionRef]:
    """Yield the sessions under Qwen's folder, newest first. Links and files that cannot be read are left out.

    `QWEN_RUNTIME_DIR` moves the sessions alone, out of the folder of the settings.
    """
    moved = os.environ.get("QWEN_RUNTIME_DIR")
    store = Path(moved).expanduser() if moved else home
    for path in newest_first(store, "projects/*/chats/*.jsonl", "tmp/*/chats/*.jsonl"):
        ref = refer(path)
        if ref is not None:
            yield ref


def refer(path: Path) -> SessionRef | None:
    """Return what the ends of a log say of its session, None when it cannot be read or is none."""
    ends = ends_of(path)
    if ends is None:
        return None
    records = _records(ends.head)
    if not records or not recognise(ends.head, path.name):
        return None
    last = [*records, *_records(ends.tail)]
    # What the program notes for itself may stand after the place was left.
    spoken = [record for record in last if record.type != "system"] or last
    first = next((record for record in records if record.cwd), records[0])
    parent, kind = _parent(records)
    return SessionRef(
        agent="qwen",
        path=str(path),
        session_id=safe_id(first.session_id) or _name_of(path),
        bytes=ends.size,
        started_at=milliseconds(records[0].timestamp),
        modified_at=ends.modified,
        cwd=first.cwd or "",
        branch=next((record.git_branch for record in reversed(spoken) if record.git_branch), ""),
        title=_title(last),
        parent_id=parent,
        parent_kind=kind,
    )


def _records(text: bytes) -> list[Record]:
    found = [_record(line) for line in text.split(b"\n") if b'"uuid"' in line[:200]]
    return [record for record in found if record is not None and record.uuid]


def _title(records: list[Record]) -> str:
    named = (payload_of(record).custom_title for record in reversed(records) if record.subtype == "custom_title")
    asked = (
        payload_of(record).display_text or text_of(record.message)
        for record in records
        if record.type == "user" and record.subtype is None and record.provenance in (None, "real_user")
    )
    titles = (title.strip().split("\n")[0][:200] for title in (*named, *asked) if title)
    return next((title for title in titles if title), "")


def _parent(records: list[Record]) -> tuple[str, Any]:
    """Return the session this one was branched from, or that spawned it."""
    for record in records[:50]:
        if record.forked_from is not None and (parent := safe_id(record.forked_from.session_id)):
            return parent, "fork"
        if record.subtype == "parent_session" and (parent := safe_id(payload_of(record).parent_session_id)):
            return parent, "subagent"
    return "", ""


def _name_of(path: Path) -> str:
    return safe_id(path.name.split(".")[0])


def read(ref: SessionRef, *, max_line: int = MAX_LINE) -> Iterator[AnyEvent]:
    """Yield the session's events in file order, first a `SessionStart`, last a `SessionEnd`.

    A line longer than `max_line` bytes is passed over and reported. Raises `FileNotFoundError` when the file is gone.
    """
    path = Path(ref.path)
    off = abandoned(path, max_line)
    with open_log(path) as stream:
        records = _records(head_of(stream))
    first = next((record for record in records if record.cwd), records[0] if records else Record())
    parent, kind = _parent(records)
    yield SessionStart(
        session_id=safe_id(first.session_id) or ref.session_id or _name_of(path),
        agent="qwen",
        agent_version=first.version or "",
        cwd=first.cwd or "",
        branch=first.git_branch or "",
        parent_id=parent,
        parent_kind=kind,
        at=milliseconds(first.timestamp),
    )
    reader = Reader((first.cwd or "", first.git_branch or ""))
    log: Log[Record] = Log(path, RECORD.decode, max_line=max_line)
    for line, item in log:
        if isinstance(item, Unknown):
            yield item
        else:
            place = {"offset": line.offset, "line": line.number, "active": line.number not in off}
            yield from reader.add(item, place, line.length)
    yield SessionEnd(records=log.records, bytes=log.size, offset=log.size, ignored=dict(reader.ignored))
