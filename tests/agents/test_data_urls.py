"""Pictures stand in logs as megabytes of base64: they are counted, and nothing of them is kept."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest
from log_formats import FORMATS, STAMP, events_of, head, line, sessions
from row_databases import closed_database, rows_of

from passdown.model.session import AnyEvent, SessionRef, Unknown, UserMessage
from passdown.sessions.read import read_session

DATA = "A" * 5000
URL = f"data:image/png;base64,{DATA}"
WORDS = {"type": "text", "text": "look"}
BASE64 = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": DATA}}
IMAGE_URL = {"type": "image_url", "image_url": {"url": URL}}
IMAGE = {"type": "image", "data": DATA, "mimeType": "image/png"}
PARTS = [{"text": "look"}, {"inlineData": {"mimeType": "image/png", "data": DATA}}]


def check(events: list[AnyEvent], pictures: int = 1) -> None:
    """A person said one thing and showed pictures; none of them is in the events."""
    shown = [event for event in events if isinstance(event, UserMessage)]
    assert [event.text for event in shown if event.text] == ["look"]
    assert sum(event.images for event in shown) == pictures
    assert not [event for event in events if isinstance(event, Unknown)]
    assert b"AAAAAA" not in b"".join(map(msgspec.json.encode, events))


def at(row: dict[str, Any], *path: str, value: Any) -> list[dict[str, Any]]:
    """Return the row with another value at a place in it."""
    target = row
    for key in path[:-1]:
        target = target[key]
    target[path[-1]] = value
    return [row]


def codex(row: dict[str, Any]) -> list[dict[str, Any]]:
    """Codex tells a prompt twice, and a picture that a tool has looked at."""
    message = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "look"}, {"type": "input_image", "image_url": URL}]}  # fmt: skip
    row["payload"] |= {"message": "look", "images": [URL]}
    call = {"type": "function_call", "name": "view_image", "call_id": "c", "arguments": '{"path": "a.png"}'}
    output = {"type": "function_call_output", "call_id": "c", "output": [{"type": "input_image", "image_url": URL}]}
    items = [{"timestamp": STAMP, "type": "response_item", "payload": item} for item in (message, call, output)]
    return [items[0], row, *items[1:]]


def rows_with_a_picture(agent: str) -> list[dict[str, Any]]:
    """Return rows in which a person says `look` and shows a picture."""
    row: dict[str, Any] = json.loads(line(agent, "look"))
    if agent == "codex":
        return codex(row)
    if agent == "copilot":
        return at(row, "data", "attachments", value=[{"type": "image", "data": URL}])
    if agent == "openhands":
        return at(row, "llm_message", "content", value=[WORDS, {"type": "image", "image_urls": [URL]}])
    if agent == "qwen":
        return at(row, "message", "parts", value=PARTS)
    if agent in ("gemini", "goose", "hermes"):
        return at(row, "content", value={"gemini": PARTS, "goose": [WORDS, IMAGE], "hermes": [WORDS, IMAGE_URL]}[agent])
    return at(row, "message", "content", value=[WORDS, {"kimi": IMAGE_URL, "pi": IMAGE}.get(agent, BASE64)])


@pytest.mark.parametrize("agent", FORMATS)
def test_in_logs(tmp_path: Path, agent: str) -> None:
    path = tmp_path / "session.jsonl"
    rows = rows_with_a_picture(agent)
    path.write_bytes(head(agent) + b"".join(json.dumps(row).encode() + b"\n" for row in rows))
    check(events_of(agent, path))


def test_in_what_a_tool_of_claude_code_gave_back(tmp_path: Path) -> None:
    [row] = at(json.loads(line("claude_code", number=2)), "message", "content", value=[
        {"type": "tool_result", "tool_use_id": "t", "content": [BASE64]},
    ])  # fmt: skip
    row["toolUseResult"] = {"type": "image", "file": {"base64": DATA}}
    path = tmp_path / "session.jsonl"
    path.write_bytes(head("claude_code") + line("claude_code", "look") + b"\n" + json.dumps(row).encode() + b"\n")
    check(events_of("claude_code", path), pictures=0)


TASK = [{"role": "user", "content": [{"type": "text", "text": "<task>look</task>"}, BASE64]}]
DOCUMENTS: dict[str, Any] = {
    "opencode": {
        "info": {"id": "ses_1", "directory": "/w", "title": "t", "version": "1", "time": {"created": 1, "updated": 1}},
        "messages": [{
            "info": {"id": "msg_1", "role": "user", "time": {"created": 1}},
            "parts": [{"id": "prt_1", "type": "text", "text": "look"},
                      {"id": "prt_2", "type": "file", "mime": "image/png", "url": URL}],
        }],
    },
    "amp": {"id": "T-1", "created": 1, "messages": [{"role": "user", "content": [WORDS, BASE64]}]},
    "cline": TASK, "kilo": TASK,
    "chat": {"messages": [{"role": "user", "content": [WORDS, IMAGE_URL]}]},
    "mini_swe_agent": {
        "trajectory_format": "mini-swe-agent-1.1", "info": {"exit_status": "x", "submission": "", "model_stats": {}},
        "messages": [{"role": "user", "content": [WORDS, IMAGE_URL]}],
    },
    "atif": {
        "schema_version": "ATIF-v1.6", "session_id": "x", "agent": {"name": "a", "version": "1"},
        "steps": [{"step_id": 1, "source": "user",
                   "message": [WORDS, {"type": "image", "source": {"media_type": "image/png", "path": URL}}]}],
    },
}  # fmt: skip


@pytest.mark.parametrize("form", DOCUMENTS)
def test_in_documents(tmp_path: Path, form: str) -> None:
    path = tmp_path / "session.json"
    path.write_text(json.dumps(DOCUMENTS[form]))
    check(list(read_session(path, agent=form)))


COLUMNS: dict[str, tuple[str, list[Any], int]] = {
    "goose": ("content_json", [WORDS, IMAGE], 1),
    "hermes": ("content", [WORDS, IMAGE_URL], 1),
    "crush": ("parts", [
        {"type": "text", "data": {"text": "look"}}, {"type": "image_url", "data": {"url": URL}},
        {"type": "binary", "data": {"Path": "a.png", "MIMEType": "image/png", "Data": DATA}},
    ], 2),
}  # fmt: skip


@pytest.mark.parametrize("agent", COLUMNS)
def test_in_databases(tmp_path: Path, agent: str) -> None:
    column, content, pictures = COLUMNS[agent]
    with closed_database(agent, tmp_path / "a.db") as path, closing(sqlite3.connect(path)) as connection:
        session = str(rows_of(agent)["sessions"][0]["id"])
        connection.execute("DELETE FROM messages WHERE role <> 'user' OR session_id <> ?", (session,))
        connection.execute("DELETE FROM messages WHERE rowid > (SELECT min(rowid) FROM messages)")
        connection.execute(f"UPDATE messages SET {column} = ?", (json.dumps(content),))
        connection.commit()
    check(
        list(sessions(agent).read(SessionRef(agent=agent, path=str(path), session_id=session, inner=session))), pictures
    )
