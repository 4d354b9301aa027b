"""The rows of a Claude Code log, as far as a session needs them. What is not named here is skipped undecoded.

The format is not published; the field names were read off real logs of versions 1.0.98 to 2.1.332.
"""

# Annotations are not left as text here: msgspec would compile each of them again to make its decoder.

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any

import msgspec
from msgspec import Struct, field

from passdown.io import log
from passdown.io.jsonl import Line, pull_apart
from passdown.model.pattern import lazy_pattern
from passdown.model.session import Unknown

BAD = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What decoding hostile bytes can raise."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_IDENTIFIER = lazy_pattern(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")


class Block(Struct, gc=False):
    """A content block of a message: text, thinking, tool_use or tool_result."""

    type: str = ""
    text: str | None = None
    thinking: str | None = None
    id: str | None = None
    name: str | None = None
    input: Any = None
    tool_use_id: str | None = None
    content: Any = None
    is_error: bool | None = None


class Tokens(Struct, gc=False):
    """`message.usage`. Written again with every block of a response, the early rows with too small an output."""

    input_tokens: int | None = 0
    cache_creation_input_tokens: int | None = 0
    cache_read_input_tokens: int | None = 0
    output_tokens: int | None = 0


class Message(Struct, gc=False):
    """The API's message: one response is written as one row for each of its blocks, all with the same `id`."""

    id: str | None = None
    model: str | None = None
    content: str | list[Block] | None = None
    usage: Tokens | None = None


class Twin(Struct, rename="camel", gc=False):
    """`toolUseResult`: the structured twin of a tool's result. Loosely typed, because every tool has its own."""

    interrupted: Any = None
    background_task_id: Any = None
    return_code_interpretation: Any = None
    is_async: Any = None
    agent_id: Any = None
    file_path: Any = None
    plan: Any = None
    task: Any = None
    task_id: Any = None
    status: Any = None
    exit_code: Any = None
    shell_id: Any = None
    total_duration_ms: Any = None


class Progress(Struct, rename="camel", gc=False):
    """The payload of a `progress` row; an `agent_progress` holds a subagent's own row in `message`."""

    type: str = ""
    message: "Row | None" = None
    agent_id: str | None = None


class Attachment(Struct, rename="camel", gc=False):
    """The payload of an `attachment` row."""

    type: str = ""
    prompt: Any = None
    command_mode: Any = None
    origin: Any = None
    is_meta: Any = None
    content: msgspec.Raw = msgspec.Raw()


class Compacted(Struct, rename="camel", gc=False):
    """`compactMetadata` and `microcompactMetadata`."""

    trigger: Any = None
    pre_tokens: Any = None
    post_tokens: Any = None
    tokens_saved: Any = None


class Row(Struct, rename="camel", gc=False):
    """One record of the log."""

    type: str = ""
    parent_uuid: str | None = None
    is_sidechain: bool | None = None
    cwd: str | None = None
    session_id: str | None = None
    version: str | None = None
    git_branch: str | None = None
    message: Message | None = None
    request_id: str | None = None
    parent_tool_use_id: str | None = field(default=None, name="parentToolUseID")
    uuid: str | None = None
    timestamp: str | int | float | None = None
    tool_use_result: Twin | str | list[msgspec.Raw] | bool | None = None
    subtype: str | None = None
    is_meta: bool | None = None
    is_compact_summary: bool | None = None
    repeats_compact_summary: bool | None = None
    is_api_error_message: bool | None = None
    agent_id: str | None = None
    entrypoint: str | None = None
    origin: Any = None
    prompt_source: Any = None
    plan_content: msgspec.Raw = msgspec.Raw()
    tool_denial_kind: Any = None
    data: Progress | None = None
    attachment: Attachment | None = None
    compact_metadata: Compacted | None = None
    microcompact_metadata: Compacted | None = None
    operation: Any = None
    content: Any = None
    ai_title: Any = None
    custom_title: Any = None
    summary: Any = None
    leaf_uuid: Any = None


ROW = msgspec.json.Decoder(Row)

TICK = b'"type":"progress","data":{"type":"'
TICK_WITHIN = 1024


class _Whole(Struct, gc=False):
    """Any object, passed over."""


_WHOLE = msgspec.json.Decoder(_Whole)


def salvaged(line: Line, data: bytes, where: dict[str, Any]) -> Iterator[Row | Unknown]:
    """Yield the rows of a line that did not decode, and an `Unknown` for what in it is none."""
    documents, left = pull_apart(data)
    for document in documents:
        try:
            yield ROW.decode(document)
        except BAD:
            yield Unknown(record=_type_of(document), reason="bad_shape", length=len(document), **where)
    if left:
        yield Unknown(reason="bad_json" if line.complete else "torn_line", length=line.length, **where)


def tick_at(data: bytes, start: int) -> bytes | None:
    """Return the kind of progress that a line tells which holds `TICK` at `start`, None when it holds more than that.

    Up to half of a log are such rows, which hold nothing else. They need no values decoded: these bytes cannot stand
    inside a JSON string, where a quote is escaped. Another row may stand behind one or a part of it, though.
    """
    try:
        _WHOLE.decode(data)
    except BAD:
        return None
    start += len(TICK)
    return data[start : start + 32].partition(b'"')[0]


def _type_of(document: bytes) -> str:
    found = re.search(rb'"type"\s*:\s*"([A-Za-z0-9_-]{1,64})"', document[:4096])
    return found[1].decode() if found else ""


def identifier(value: object) -> str:
    """Return the value when it may stand in a path or as an id, else an empty string."""
    return value if isinstance(value, str) and _IDENTIFIER.fullmatch(value) else ""


@lru_cache(maxsize=64)
def _minute(text: str) -> int:
    return (datetime.fromisoformat(f"{text}00+00:00") - _EPOCH) // _MILLISECOND


def milliseconds(stamp: str | float | None) -> int | None:
    """Return a time as milliseconds since the epoch, None when it is none. Without a zone it is UTC."""
    if not isinstance(stamp, str):
        return log.milliseconds(stamp)
    try:
        if len(stamp) == 24 and stamp[19] == "." and stamp[23] == "Z":  # rows of one minute share most of the work
            within = stamp[17:19] + stamp[20:23]
            if within.isdigit() and within < "60000":
                return _minute(stamp[:17]) + int(within)
        moment = datetime.fromisoformat(stamp)
        return ((moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)) - _EPOCH) // _MILLISECOND
    except (ValueError, OverflowError):
        return None


def text_of(content: object) -> str:
    """Return the text of a message's or a result's content, whether a string or blocks, parts joined by a line feed."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    parts: list[str] = []
    for block in content:
        text = block.get("text") if isinstance(block, dict) else block
        if isinstance(text, str):
            parts.append(text)
    return "\n".join(parts)


def whole(value: object) -> int | None:
    """Return a whole number as such, None for anything else (a truth value is no number)."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None
