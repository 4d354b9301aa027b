"""A Claude Code log written row by row, and reading it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from passdown.agents.claude_code.sessions import read
from passdown.model.session import AnyEvent, SessionRef

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures" / "claude_code"
OWN = "11111111-1111-4111-8111-111111111111"
OTHER = "22222222-2222-4222-8222-222222222222"
FIXTURE = FIXTURES / "home" / "projects" / "-home-dev-slug" / f"{OWN}.jsonl"
REJECTED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the "
    "new_string was NOT written to the file). "
)


class Log:
    """A log under way: each row goes on from the one before unless told otherwise."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self.last: str | None = None

    def add(self, kind: str, **fields: Any) -> str:
        number = len(self.rows) + 1
        uuid = f"00000000-0000-4000-8000-{number:012d}"
        row = {
            "parentUuid": self.last, "isSidechain": False, "cwd": "/home/dev/slug", "sessionId": OWN,
            "version": "2.1.50", "gitBranch": "main", "type": kind, "uuid": uuid,
            "timestamp": f"2026-03-01T10:{number // 60:02d}:{number % 60:02d}.000Z",
        }  # fmt: skip
        self.rows.append(row | fields)
        self.last = uuid
        return uuid

    def plain(self, **row: Any) -> None:
        self.rows.append(row)

    def prompt(self, content: Any, **fields: Any) -> str:
        return self.add("user", message={"role": "user", "content": content}, **fields)

    def block(self, block: dict[str, Any], message: str = "msg_1", output: int = 5, **fields: Any) -> str:
        model = fields.pop("model", "claude-opus-4-6")
        usage = {"input_tokens": 3, "cache_creation_input_tokens": 10, "cache_read_input_tokens": 100}
        body = {"id": message, "model": model, "content": [block], "usage": usage | {"output_tokens": output}}
        return self.add("assistant", message=body, requestId=f"req_{message}", **fields)

    def say(self, text: str, message: str = "msg_1", **fields: Any) -> str:
        return self.block({"type": "text", "text": text}, message, **fields)

    def call(self, tool: str, call_id: str, arguments: dict[str, Any], message: str = "msg_1", **fields: Any) -> str:
        return self.block({"type": "tool_use", "id": call_id, "name": tool, "input": arguments}, message, **fields)

    def result(self, call_id: str, text: Any, *, error: bool = False, **fields: Any) -> str:
        block = {"tool_use_id": call_id, "type": "tool_result", "content": text, "is_error": error}
        return self.prompt([block], **fields)

    def bytes(self) -> bytes:
        return b"".join(json.dumps(row, separators=(",", ":")).encode() + b"\n" for row in self.rows)

    def events(self, folder: Path) -> list[AnyEvent]:
        path = folder / f"{OWN}.jsonl"
        path.write_bytes(self.bytes())
        return events_of(path)


def events_of(path: Path, **options: Any) -> list[AnyEvent]:
    return list(read(SessionRef(agent="claude_code", path=str(path), session_id=""), **options))


def of(events: list[AnyEvent], kind: type) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]
