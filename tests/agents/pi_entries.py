"""Entries of a Pi session."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from passdown.agents.pi.sessions import read
from passdown.model.session import AnyEvent, SessionRef

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures" / "pi"
STORE = FIXTURES / "store"
HEADER = {
    "type": "session", "version": 3, "id": "5e551071-0000-7000-8000-000000000000",
    "timestamp": "2026-03-01T10:00:00.000Z", "cwd": "/home/dev/slug",
}  # fmt: skip


def events_of(path: Path, **options: Any) -> list[AnyEvent]:
    return list(read(SessionRef(agent="pi", path=str(path), session_id=""), **options))


def of(events: list[AnyEvent], kind: type) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


def session(folder: Path, *entries: dict[str, Any], header: dict[str, Any] | None = None) -> list[AnyEvent]:
    """Write the entries as one chain after a header, and read them."""
    rows = [header or HEADER]
    for number, entry in enumerate(entries):
        link = {"id": f"{number:08x}", "parentId": f"{number - 1:08x}" if number else None}
        rows.append({"type": "message", **link, "timestamp": "2026-03-01T10:00:01.000Z", **entry})
    path = folder / "session.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return events_of(path)


def result(text: str, *, tool: str = "bash", error: bool = True, **more: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    return {"message": {"role": "toolResult", "toolCallId": "c", "toolName": tool, "content": content,
                        "isError": error, **more}}  # fmt: skip


def call(tool: str, arguments: Any) -> dict[str, Any]:
    block = {"type": "toolCall", "id": "c", "name": tool, "arguments": arguments}
    return {"message": {"role": "assistant", "model": "m", "content": [block], "stopReason": "toolUse"}}


def user(content: Any) -> dict[str, Any]:
    return {"message": {"role": "user", "content": content}}
