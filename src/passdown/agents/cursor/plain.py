"""Cursor's older transcripts: plain text, with `user:` and `assistant:` on lines of their own."""

from __future__ import annotations

from typing import Any

import msgspec

from passdown.agents.cursor.reader import Reader
from passdown.io.jsonl import Line
from passdown.io.log import BAD
from passdown.model.pattern import lazy_pattern

_ROLES = {b"user:": "user", b"assistant:": "assistant"}
_BEGIN = lazy_pattern(rb"\A\s*(?:user|assistant):[ \t]*\r?\n")
_MARK = lazy_pattern(r"\[(Thinking|Tool call|Tool result)\][ \t]*(.*)", 16)
_PAIR = lazy_pattern(r"[ \t]*([A-Za-z_]\w{0,60})[ \t]*[=:][ \t]*(.*)", 16)
LONGEST = 4 << 20
"""Most bytes of one message that are kept."""


def is_plain(head: bytes) -> bool:
    """Say whether a file that starts with `head` is such a transcript: what somebody said, in Cursor's own marks."""
    if _BEGIN.match(head) is None:
        return False
    return b"<user_query>" in head or b"\n[Tool call] " in head or b"\n[Thinking]" in head


class Plain:
    """Puts the lines of a transcript together again. `add` says whether a message has come to its end."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._role = ""
        self._lines: list[str] = []
        self._size = 0
        self._place: dict[str, Any] = {}

    def add(self, line: Line) -> None:
        """Add one line; what was said before it goes to the reader when it begins a message."""
        data = (line.data or b"").rstrip(b"\r")
        role = _ROLES.get(data.strip())
        if role is not None:
            self.finish()
            self._role = role
            self._place = {"offset": line.offset, "line": line.number}
        elif self._role and self._size <= LONGEST:
            self._size += len(data) + 1
            self._lines.append(data.decode("utf-8", "replace"))

    def finish(self) -> None:
        """Hand what was said last to the reader."""
        lines, self._lines, self._size = self._lines, [], 0
        if not self._role or not any(line.strip() for line in lines):
            return
        self._reader.base = self._place
        self._reader.key = f"line-{self._place['line']}"
        if self._role == "user":
            self._reader.user("\n".join(lines).strip())
        else:
            self._assistant(lines)

    def _assistant(self, lines: list[str]) -> None:
        kind, name, body = "", "", list[str]()
        for line in lines:
            mark = _MARK.match(line)
            if mark is not None:
                self._part(kind, name, body)
                kind, name, body = mark[1], mark[2].strip(), []
            elif kind and line.strip() and line[0] not in " \t":
                self._part(kind, name, body)
                kind, name, body = "", "", [line]
            else:
                body.append(line)
        self._part(kind, name, body)

    def _part(self, kind: str, name: str, body: list[str]) -> None:
        text = "\n".join(body).strip()
        if kind == "Tool call":
            self._reader.call({"name": name, "input": _arguments(body)})
        elif kind == "Tool result":
            if text:
                self._reader.result("", text)
        elif kind == "Thinking":
            self._reader.think(f"{name}\n{text}".strip())
        elif text:
            self._reader.say(text)


def _arguments(body: list[str]) -> dict[str, Any]:
    text = "\n".join(body).strip()
    if text.startswith("{"):
        try:
            decoded = msgspec.json.decode(text)
        except (UnicodeError, *BAD):
            decoded = None
        if isinstance(decoded, dict):
            return decoded
    if "*** Begin Patch" in text:
        return {"patch": text}
    found: dict[str, list[str]] = {}
    last: list[str] = []
    for line in body:
        pair = _PAIR.match(line)
        if pair is not None and len(found) < 100:
            last = found[pair[1]] = [pair[2].strip()]
        elif line.strip():
            last.append(line)
    if not found:
        return {"input": text} if text else {}
    return {name: "\n".join(lines) for name, lines in found.items()}
