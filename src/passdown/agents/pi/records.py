"""What Pi writes: one JSON object a line, in the shapes of `packages/coding-agent/docs/session-format.md` (v1 to v3).

Only the fields that are used are named: the decoder passes over everything else undecoded. All of them have defaults,
because a session is what its writer made of it, not what its documentation says.
"""

# Annotations are not left as text here: msgspec would compile each of them again to make its decoder.

import re
from typing import Any

import msgspec
from msgspec import Raw, Struct

from passdown.io.log import first_in
from passdown.model.pattern import lazy_pattern

Number = int | float | None


class Tokens(Struct, rename="camel", gc=False):
    """Token counts of one response; `input` leaves out what the cache gave or took."""

    input: Number = None
    output: Number = None
    cache_read: Number = None
    cache_write: Number = None


class Block(Struct, rename="camel", gc=False):
    """One block of a message: text, thinking, image or toolCall."""

    type: str = ""
    text: str | None = None
    thinking: str | None = None
    id: str | None = None
    name: str | None = None
    arguments: Any = None


class Message(Struct, rename="camel", gc=False):
    """The `message` of a message entry, whatever its role."""

    role: str = ""
    content: str | list[Block] | None = None
    model: str | None = None
    usage: Tokens | None = None
    stop_reason: str | None = None
    error_message: str | None = None
    response_id: str | None = None
    tool_call_id: str | None = None
    tool_name: str | None = None
    is_error: bool | None = None
    details: Raw = Raw()
    command: str | None = None
    output: str | None = None
    exit_code: Number = None
    cancelled: bool | None = None
    summary: str | None = None
    tokens_before: Number = None


class Entry(Struct, rename="camel", gc=False):
    """One line. `id` is empty in v1 files."""

    type: str = ""
    id: str | None = None
    timestamp: str | int | float | None = None
    message: Message | None = None
    content: str | list[Block] | None = None
    summary: str | None = None
    tokens_before: Number = None
    usage: Tokens | None = None
    name: str | None = None


class Header(Struct, rename="camel", gc=False):
    """The `session` line. v1 forks named their parent `branchedFrom`, later ones `parentSession`."""

    type: str = ""
    id: str | None = None
    version: Number = None
    timestamp: str | int | float | None = None
    cwd: str | None = None
    parent_session: str | None = None
    branched_from: str | None = None


class Todo(Struct, gc=False):
    """One item of the todo extension."""

    text: str = ""
    done: bool = False


class Details(Struct, rename="camel", gc=False):
    """What extensions add to a tool result: an exit code, a todo list."""

    exit_code: Number = None
    todos: list[Todo] | None = None


ENTRY = msgspec.json.Decoder(Entry)
HEADER = msgspec.json.Decoder(Header)
DETAILS = msgspec.json.Decoder(Details)

_SAFE_ID = lazy_pattern(r"[0-9A-Za-z][0-9A-Za-z._-]{0,127}")


def count(number: Number) -> int:
    """Return a token count, 0 for what is none."""
    return max(0, whole(number) or 0)


def whole(number: Number) -> int | None:
    """Return a number as an integer, None when it is absent or infinite."""
    try:
        return None if number is None else int(number)
    except (ValueError, OverflowError):
        return None


def header_of(line: bytes) -> Header | None:
    """Return the session header that a line holds, or None."""
    header = first_in(line, HEADER.decode)
    return header if header is not None and header.type == "session" and header.id else None


def safe_id(text: str | None) -> str:
    """Return an identifier that is one, else an empty string."""
    return text if text and _SAFE_ID.fullmatch(text) else ""


def parent_of(header: Header) -> str:
    """Return the id of the session this one was forked or continued from, taken from the parent's file name."""
    name = parent_name(header)
    return safe_id(name.removesuffix(".jsonl").rpartition("_")[2])


def parent_name(header: Header) -> str:
    """Return the file name of the parent session, empty when there is none."""
    path = header.parent_session or header.branched_from or ""
    return re.split(r"[/\\]", path)[-1]
