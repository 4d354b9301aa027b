"""What the first and the last bytes of a log say of it: enough to list it, and to know which session it is."""

# Annotations are not left as text here: msgspec would compile each of them again to make its decoder.

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Raw, Struct

from passdown.agents.claude_code.origins import PLAN, TRANSCRIPT
from passdown.agents.claude_code.records import BAD, identifier, milliseconds
from passdown.io.jsonl import open_log, salvage, size_of
from passdown.io.log import HEAD, head_of
from passdown.model.pattern import lazy_pattern

ENDS = HEAD
"""Bytes read at either end of a file."""

_UUID = lazy_pattern(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_TALK = frozenset({"user", "assistant", "system", "progress", "attachment"})
_ONLY_HERE = frozenset({"file-history-snapshot", "queue-operation", "last-prompt", "permission-mode", "ai-title"})


class _Body(Struct):
    content: Raw = Raw(b"null")  # most of a log, and hardly ever looked at here


class _Line(Struct, rename="camel"):
    type: str = ""
    is_sidechain: bool | None = None
    agent_id: str | None = None
    session_id: str | None = None
    parent_uuid: str | None = None
    cwd: str | None = None
    git_branch: str | None = None
    version: str | None = None
    entrypoint: str | None = None
    timestamp: str | int | float | None = None
    message_id: str | None = None
    leaf_uuid: str | None = None
    ai_title: str | None = None
    custom_title: str | None = None
    message: _Body | None = None


_LINE = msgspec.json.Decoder(_Line)
_TEXT = msgspec.json.Decoder(str)


class Outline(Struct):
    """A log seen from its ends. `agent_id` is set when it is a subagent's own file, `leaves` are its summaries'."""

    session_id: str = ""
    agent_id: str = ""
    version: str = ""
    cwd: str = ""
    branch: str = ""
    first_branch: str = ""
    entrypoint: str = ""
    title: str = ""
    parent_id: str = ""
    parent_kind: Literal["", "fork", "subagent", "continuation"] = ""
    started_at: int | None = None
    size: int = 0
    talk: bool = False
    leaves: tuple[str, ...] = ()


def read_ends(path: Path) -> tuple[bytes, bytes, int]:
    """Return the first bytes, the last ones that are not among them, and the size.

    Raises `FileNotFoundError`, and `UnsafeError` for anything but a regular file.
    """
    with open_log(path) as stream:
        size = size_of(stream)
        head = head_of(stream)
        if size is None:
            return head, b"", path.stat().st_size
        stream.seek(max(len(head), size - ENDS))
        return head, stream.read(ENDS), size


def outline(path: Path, head: bytes, tail: bytes, size: int, *, session_id: str = "") -> Outline:
    """Read what the ends of a log say. `session_id` is the id it is known by, when there is one."""
    found = Outline(size=size)
    ids: list[str] = []
    custom = False
    for line in _lines(head, tail):
        talk = line.type in _TALK
        if line.session_id and talk:
            ids.append(line.session_id)
        if line.is_sidechain and line.agent_id and not found.talk and path.name.startswith("agent-"):
            found.agent_id = identifier(line.agent_id)
        found.talk = found.talk or talk
        found.version = found.version or line.version or ""
        found.cwd = found.cwd or line.cwd or ""
        found.branch = line.git_branch or found.branch
        found.first_branch = found.first_branch or line.git_branch or ""
        found.entrypoint = found.entrypoint or line.entrypoint or ""
        if found.started_at is None and talk:
            found.started_at = milliseconds(line.timestamp)
        if line.custom_title:
            found.title, custom = line.custom_title, True
        elif line.ai_title and not custom:
            found.title = line.ai_title
        if line.type == "summary" and line.leaf_uuid and len(found.leaves) < 16:
            found.leaves = (*found.leaves, line.leaf_uuid)
        if not found.parent_id and line.type == "user" and line.message is not None:
            _handed_over(found, bytes(line.message.content))
    _own(found, ids, session_id or path.name.partition(".")[0])
    return found


def _lines(head: bytes, tail: bytes) -> Iterator[_Line]:
    lines = head.split(b"\n")
    if tail:
        lines.pop()
        lines += tail.split(b"\n")[1:] if len(head) == ENDS else tail.split(b"\n")
    for data in lines:
        yield from _decoded(data)


def _decoded(data: bytes) -> Iterator[_Line]:
    """Decode a line; one that holds several records glued together, or a broken one, is pulled apart first."""
    try:
        yield _LINE.decode(data)
    except BAD:
        for document in salvage(data):
            with contextlib.suppress(*BAD):
                yield _LINE.decode(document)


def _handed_over(found: Outline, raw: bytes) -> None:
    """A prompt that hands a plan over names the transcript it was made in."""
    if not raw.startswith(b'"'):
        return
    try:
        content = _TEXT.decode(raw)
    except BAD:
        return
    if content.startswith(PLAN):
        pointer = TRANSCRIPT.search(content[-4096:])
        if pointer is not None:
            found.parent_id, found.parent_kind = pointer[1], "continuation"


def _own(found: Outline, ids: list[str], known: str) -> None:
    """Decide which session the file is: a fork begins with rows that carry another session's id."""
    found.session_id = known if known in ids or not ids else ids[-1]
    if found.agent_id:
        found.parent_id, found.parent_kind = identifier(found.session_id), "subagent"
    elif ids and ids[0] != found.session_id:
        found.parent_id, found.parent_kind = identifier(ids[0]), "fork"


def recognise(head: bytes, name: str) -> bool:  # noqa: ARG001 - content decides, never the name
    """Say whether a file that starts with `head` is a Claude Code log, or the JSON of a web session."""
    if b'"loglines"' in head and head.lstrip().startswith(b"{") and b'"message"' in head:
        return True
    for data in head.split(b"\n", 50)[:50]:
        try:
            line = _LINE.decode(data.strip(b"\x00\xef\xbb\xbf\r "))
        except BAD:
            if b'"isSidechain":' in data and b'"parentUuid":' in data and b'"sessionId":' in data:
                return True
            continue
        if _is_row(line, data):
            return True
    return False


def _is_row(line: _Line, data: bytes) -> bool:
    if line.type in ("user", "assistant"):
        return line.message is not None and bytes(line.message.content)[:1] in (b'"', b"[")
    if line.type in ("system", "progress", "attachment"):
        return line.is_sidechain is not None and b'"uuid"' in data
    if line.type == "summary":
        return line.leaf_uuid is not None
    return line.type in _ONLY_HERE and (line.session_id is not None or line.message_id is not None)
