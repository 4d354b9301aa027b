"""What OpenCode stores: a session, its messages and their parts, the same JSON in all three containers.

Shapes: `anomalyco/opencode`, `packages/opencode/src/session/message-v2.ts`. Only the fields that are used are named,
the decoder passes over everything else undecoded. All of them have defaults.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw, Struct

from passdown.model.pattern import lazy_pattern

Number = int | float | None


class Times(Struct, gc=False):
    """Milliseconds since the epoch."""

    created: Number = None
    updated: Number = None
    completed: Number = None
    start: Number = None
    end: Number = None
    compacted: Number = None


class Cache(Struct, gc=False):
    """Tokens read from and written to the provider's cache."""

    read: Number = None
    write: Number = None


class Tokens(Struct, gc=False):
    """Token counts of one response; `input` leaves out what the cache gave or took."""

    total: Number = None
    input: Number = None
    output: Number = None
    reasoning: Number = None
    cache: Cache | None = None


class Revert(Struct, gc=False):
    """Where a session was taken back to: this message (from this part on) and all later ones are hidden."""

    message_id: str | None = msgspec.field(default=None, name="messageID")
    part_id: str | None = msgspec.field(default=None, name="partID")


class SessionInfo(Struct, gc=False):
    """The session's own record."""

    id: str | None = None
    parent_id: str | None = msgspec.field(default=None, name="parentID")
    directory: str | None = None
    title: str | None = None
    version: str | None = None
    time: Times | None = None
    revert: Revert | None = None


class Place(Struct, gc=False):
    """Where an answer was made."""

    cwd: str | None = None
    root: str | None = None


class ErrorData(Struct, gc=False):
    """The data of an error."""

    message: str | None = None


class ErrorInfo(Struct, gc=False):
    """Why an answer ended early; `MessageAbortedError` is a person's doing."""

    name: str | None = None
    data: ErrorData | None = None


class MessageInfo(Struct, gc=False):
    """A message without its parts. `summary` is `true` on a compaction's summary, an object on a user's message."""

    id: str | None = None
    session_id: str | None = msgspec.field(default=None, name="sessionID")
    role: str = ""
    time: Times | None = None
    error: ErrorInfo | None = None
    model_id: str | None = msgspec.field(default=None, name="modelID")
    mode: str | None = None
    agent: str | None = None
    path: Place | None = None
    summary: Raw = Raw()
    tokens: Tokens | None = None
    finish: str | None = None
    parts: Raw = Raw()


class State(Struct, gc=False):
    """The state of a tool call."""

    status: str = ""
    input: Any = None
    output: str | None = None
    error: str | None = None
    metadata: Raw = Raw()
    time: Times | None = None


class Part(Struct, gc=False):
    """One part of a message, whatever its type."""

    id: str | None = None
    type: str = ""
    text: str | None = None
    synthetic: bool | None = None
    ignored: bool | None = None
    time: Times | None = None
    tool: str | None = None
    call_id: str | None = msgspec.field(default=None, name="callID")
    state: State | None = None
    tokens: Tokens | None = None
    auto: bool | None = None
    prompt: str | None = None
    command: str | None = None
    mime: str | None = None


class Metadata(Struct, gc=False):
    """What a tool adds to its result."""

    exit: Number = None
    session_id: str | None = msgspec.field(default=None, name="sessionId")
    filepath: str | None = None
    files: list[PatchedFile] | None = None
    todos: list[Todo] | None = None
    interrupted: bool | None = None


class PatchedFile(Struct, gc=False):
    """A file that `apply_patch` changed."""

    file_path: str | None = msgspec.field(default=None, name="filePath")
    relative_path: str | None = msgspec.field(default=None, name="relativePath")


class Todo(Struct, gc=False):
    """One item of the todo list."""

    content: str = ""
    status: str = ""


class Document(Struct, gc=False):
    """A JSON file of OpenCode: an export (`info`, `messages`), or a session or message of the storage tree."""

    info: Raw = Raw()
    messages: list[Raw] | None = None
    id: str | None = None
    role: str | None = None
    session_id: str | None = msgspec.field(default=None, name="sessionID")


class Exported(Struct, gc=False):
    """One message of an export."""

    info: Raw = Raw()
    parts: list[Raw] | None = None


SESSION = msgspec.json.Decoder(SessionInfo)
MESSAGE = msgspec.json.Decoder(MessageInfo)
PART = msgspec.json.Decoder(Part)
METADATA = msgspec.json.Decoder(Metadata)
TODOS = msgspec.json.Decoder(list[Todo])
DOCUMENT = msgspec.json.Decoder(Document)
EXPORTED = msgspec.json.Decoder(Exported)
REVERT = msgspec.json.Decoder(Revert)

BAD = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What decoding raises on content."""

_FIELD = lazy_pattern(rb'"(id|parentID|directory|title|version)"\s*:\s*("(?:[^"\\]|\\.)*+")')
_SAFE_ID = lazy_pattern(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}")


def whole(number: Number) -> int | None:
    """Return a number as an integer, None when it is absent or infinite."""
    try:
        return None if number is None else int(number)
    except (ValueError, OverflowError):
        return None


def count(number: Number) -> int:
    """Return a token count, 0 for what is none."""
    return max(0, whole(number) or 0)


def safe_id(text: str | None) -> str:
    """Return an identifier that is one, else an empty string: ids become file names in the storage tree."""
    return text if text and _SAFE_ID.fullmatch(text) else ""


def torn_session(data: bytes) -> SessionInfo:
    """Return what can be saved of a session's record that was not written whole."""
    found: dict[str, str] = {}
    for name, value in _FIELD.findall(data[:65536]):
        try:
            found.setdefault(name.decode(), msgspec.json.decode(value, type=str))
        except BAD:
            continue
    return msgspec.convert(found, SessionInfo)


def parent_of(info: SessionInfo) -> str:
    """Return the parent session's id; empty when there is none or a capture has blotted it out."""
    parent = safe_id(info.parent_id)
    return parent if parent.startswith("ses_") else ""
