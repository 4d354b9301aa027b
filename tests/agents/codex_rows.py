"""Rows of a Codex rollout."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures" / "codex"
OWN = "01a228c2-2194-7b00-8ff1-5d5acf7172e2"
PARENT = "01a228c2-1dd3-74d3-8e86-e500ddb367d8"
OLD_TURN = "01a228c2-1e65-7942-a751-b4985c9be19b"
NEW_TURN = "01a228c2-21f4-7670-a43a-96059eae3209"
Row = dict[str, Any]
Events = Callable[..., list[Any]]


def row(kind: str, payload: Row, second: float = 0) -> Row:
    stamp = f"2026-03-01T10:{int(second) // 60:02}:{second % 60:06.3f}Z"
    return {"timestamp": stamp, "type": kind, "payload": payload}


def meta(identifier: str = OWN, **more: Any) -> Row:
    return row("session_meta", {"id": identifier, "cwd": "/w", "cli_version": "0.142.0", "source": "cli", **more})


def event(name: str, /, **payload: Any) -> Row:
    return row("event_msg", {"type": name, **payload})


def item(kind: str, **payload: Any) -> Row:
    return row("response_item", {"type": kind, **payload})


def said(role: str, text: str) -> Row:
    return item("message", role=role, content=[{"type": "input_text", "text": text}])


def prompt(text: str) -> list[Row]:
    return [said("user", text), event("user_message", message=text, images=[])]


def shell(call_id: str, command: str, output: Any) -> list[Row]:
    return [
        call(call_id, "exec_command", {"cmd": command}),
        item("function_call_output", call_id=call_id, output=output),
    ]


def call(call_id: str, name: str, arguments: Any) -> Row:
    return item("function_call", name=name, call_id=call_id, arguments=json.dumps(arguments))


def tokens(total: int, last: int, cached: int = 0) -> Row:
    def usage(number: int) -> Row:
        return {
            "input_tokens": number,
            "cached_input_tokens": cached,
            "output_tokens": 10,
            "reasoning_output_tokens": 4,
        }

    return event("token_count", info={"total_token_usage": usage(total), "last_token_usage": usage(last), "model_context_window": 900})  # fmt: skip


def of(events: list[Any], kind: type) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]
