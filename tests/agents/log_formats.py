"""How each agent that keeps one record a line writes a session's first line and what a person says, and reading it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from passdown.agents.table import AGENTS, Sessions, sessions_of
from passdown.model.session import AnyEvent, SessionRef, Unknown, UserMessage

STAMP = "2026-03-01T10:00:01.000Z"


class Format(NamedTuple):
    """How an agent writes a session's first line and what a person says."""

    head: dict[str, Any]
    said: Callable[[str, str, int], dict[str, Any]]


def _copilot(text: str, at: str, number: int) -> dict[str, Any]:
    return {"type": "user.message", "data": {"content": text}, "id": f"e{number}", "timestamp": at, "parentId": None}


def _gemini(text: str, at: str, number: int) -> dict[str, Any]:
    return {"id": f"e{number}", "timestamp": at, "type": "user", "content": [{"text": text}]}


def _qwen(text: str, at: str, number: int) -> dict[str, Any]:
    link = {"uuid": f"e{number}", "parentUuid": f"e{number - 1}", "sessionId": "s-1", "timestamp": at, "cwd": "/w"}
    return {**link, "type": "user", "message": {"role": "user", "parts": [{"text": text}]}}


def _openhands(text: str, at: str, number: int) -> dict[str, Any]:
    message = {"role": "user", "content": [{"type": "text", "text": text}]}
    return {
        "id": f"00000000-{number}", "timestamp": at, "source": "user", "llm_message": message, "kind": "MessageEvent",
    }  # fmt: skip


def _kimi(text: str, at: str, number: int) -> dict[str, Any]:
    message = {"role": "user", "content": [{"type": "text", "text": text}], "origin": {"kind": "user"}}
    return {"type": "context.append_message", "message": message, "time": at, "agentId": "main"}


def _droid(text: str, at: str, number: int) -> dict[str, Any]:
    message = {"role": "user", "content": [{"type": "text", "text": text}]}
    return {"type": "message", "id": f"e{number}", "timestamp": at, "parentId": None, "message": message}


def _cursor(text: str, at: str, number: int) -> dict[str, Any]:
    return {"role": "user", "message": {"content": [{"type": "text", "text": text}]}, "at": at}


def _claude_code(text: str, at: str, number: int) -> dict[str, Any]:
    link = {"parentUuid": f"e{number - 1}", "isSidechain": False, "cwd": "/w", "sessionId": "s-1", "type": "user"}
    return {**link, "message": {"role": "user", "content": text}, "uuid": f"e{number}", "timestamp": at}


def _codex(text: str, at: str, number: int) -> dict[str, Any]:
    payload = {"type": "user_message", "message": text, "turn_id": f"t{number}"}
    return {"timestamp": at, "type": "event_msg", "payload": payload}


def _pi(text: str, at: str, number: int) -> dict[str, Any]:
    message = {"role": "user", "content": text}
    return {
        "type": "message",
        "id": f"{number:08x}",
        "parentId": f"{number - 1:08x}",
        "timestamp": at,
        "message": message,
    }


def _goose(text: str, at: str, number: int) -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    return {"id": f"e{number}", "role": "user", "created": at, "content": content}


def _hermes(text: str, at: str, number: int) -> dict[str, Any]:
    return {"role": "user", "content": text, "timestamp": at, "id": f"e{number}"}


FORMATS = {
    "copilot": Format(
        {"type": "session.start", "data": {"sessionId": "s-1", "copilotVersion": "1"}, "id": "e", "parentId": None},
        _copilot,
    ),
    "gemini": Format({"sessionId": "s-1", "projectHash": "0", "startTime": STAMP, "kind": "main"}, _gemini),
    "qwen": Format(
        {"uuid": "e0", "parentUuid": None, "sessionId": "s-1", "type": "system", "subtype": "session_model",
         "timestamp": STAMP, "cwd": "/w", "systemPayload": {"modelId": "m"}}, _qwen,
    ),
    "openhands": Format(
        {"id": "00000000-0", "timestamp": STAMP, "source": "agent", "system_prompt": {}, "kind": "SystemPromptEvent"},
        _openhands,
    ),
    "kimi": Format({"type": "metadata", "protocol_version": "1.5", "created_at": 1772359200000}, _kimi),
    "droid": Format({"type": "session_start", "id": "s-1", "title": "t", "cwd": "/w"}, _droid),
    "cursor": Format({"role": "assistant", "message": {"content": [{"type": "text", "text": "ready"}]}}, _cursor),
    "claude_code": Format(
        {"parentUuid": None, "isSidechain": False, "cwd": "/w", "sessionId": "s-1", "type": "system", "uuid": "e0",
         "subtype": "turn_duration", "timestamp": STAMP}, _claude_code,
    ),
    "codex": Format(
        {"timestamp": STAMP, "type": "session_meta", "payload": {"id": "s-1", "cwd": "/w", "cli_version": "0.142.0"}},
        _codex,
    ),
    "pi": Format({"type": "session", "version": 3, "id": "s-1", "timestamp": STAMP, "cwd": "/w"}, _pi),
    "goose": Format({"working_dir": "/w", "description": "t", "message_count": 1, "total_tokens": 7}, _goose),
    "hermes": Format({"role": "session_meta", "tools": [], "model": "m", "platform": "cli", "timestamp": STAMP}, _hermes),
}  # fmt: skip
"""Every agent that keeps one record a line."""


def sessions(agent: str) -> Sessions:
    """Return an agent's reader."""
    return next(sessions_of(row) for row in AGENTS if row.id == agent)


def line(agent: str, text: str = "hello", at: str = STAMP, number: int = 1) -> bytes:
    """Return the line in which an agent writes what a person says."""
    return json.dumps(FORMATS[agent].said(text, at, number), ensure_ascii=False).encode()


def head(agent: str) -> bytes:
    """Return the line that an agent's log begins with."""
    return json.dumps(FORMATS[agent].head).encode() + b"\n"


def events_of(agent: str, path: Path, **options: Any) -> list[AnyEvent]:
    """Read a file as an agent's session."""
    reader: Any = sessions(agent)
    return list(reader.read(SessionRef(agent=agent, path=str(path), session_id=""), **options))


def of(events: list[AnyEvent], kind: type) -> list[Any]:
    """Return the events of a kind."""
    return [event for event in events if isinstance(event, kind)]


def said(events: list[AnyEvent]) -> list[str]:
    """Return what people said."""
    return [event.text for event in of(events, UserMessage)]


def reasons(events: list[AnyEvent]) -> list[str]:
    """Return why something was not understood."""
    return [event.reason for event in of(events, Unknown)]
