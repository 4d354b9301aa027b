"""What Qwen Code writes: one record a line, chained by `uuid` and `parentUuid`, each with its place and version.

The shapes are those of `packages/core/src/services/chatRecordingService.ts` and of real files. Only the fields that are
used are named. All of them have defaults: a session is what its writer made of it.
"""

# Annotations are not left as text here: msgspec would compile each of them again to make its decoder.

from typing import Any

import msgspec
from msgspec import Raw, Struct

from passdown.agents.genai.parts import Part
from passdown.io.log import Number

Stamp = str | int | float | None


class Content(Struct, gc=False):
    """A message as the model's interface has it."""

    role: str | None = None
    parts: list[Part] | None = None


class Tokens(Struct, rename="camel", gc=False):
    """Token counts of one response; the prompt's hold what the cache gave."""

    prompt_token_count: Number = None
    candidates_token_count: Number = None
    thoughts_token_count: Number = None
    cached_content_token_count: Number = None
    total_token_count: Number = None


class Outcome(Struct, rename="camel", gc=False):
    """What the program says of a call beside what the model gets."""

    call_id: str | None = None
    status: str | None = None
    execution_status: str | None = None
    result_display: Raw = Raw()


class Display(Struct, rename="camel", gc=False):
    """How a command ended, in newer logs."""

    type: str | None = None
    exit_code: Number = None
    outcome: str | None = None


class Origin(Struct, rename="camel", gc=False):
    """Where a record of a branched session comes from."""

    session_id: str | None = None


class Record(Struct, rename="camel", gc=False):
    """One line."""

    uuid: str | None = None
    parent_uuid: str | None = None
    session_id: str | None = None
    timestamp: Stamp = None
    type: str = ""
    subtype: str | None = None
    provenance: str | None = None
    cwd: str | None = None
    version: str | None = None
    git_branch: str | None = None
    model: str | None = None
    message: Content | None = None
    usage_metadata: Tokens | None = None
    context_window_size: Number = None
    tool_call_result: Outcome | None = None
    system_payload: Raw = Raw()
    agent_id: str | None = None
    is_sidechain: bool | None = None
    forked_from: Origin | None = None


class CompressionInfo(Struct, rename="camel", gc=False):
    """Numbers of a compression."""

    original_token_count: Number = None
    new_token_count: Number = None


class Payload(Struct, rename="camel", gc=False):
    """What a system record carries, of the kinds that are read; a person's record shows what they typed."""

    display_text: str | None = None
    hook_context: str | None = None
    phase: str | None = None
    raw_command: str | None = None
    custom_title: str | None = None
    parent_session_id: str | None = None
    info: CompressionInfo | None = None
    compressed_history: list[Content] | None = None


class Link(Struct, rename="camel", gc=False):
    """As much of a record as tells what a rewind left behind."""

    uuid: str | None = None
    parent_uuid: str | None = None
    type: str = ""
    subtype: str | None = None


RECORD = msgspec.json.Decoder(Record)
PAYLOAD = msgspec.json.Decoder(Payload)
DISPLAY = msgspec.json.Decoder(Display)
LINK = msgspec.json.Decoder(Link)

_BAD = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_NO_PAYLOAD = Payload()
_NO_DISPLAY = Display()


def payload_of(record: Record) -> Payload:
    """Return a record's payload, as far as it is understood."""
    raw = bytes(record.system_payload)
    if not raw.startswith(b"{"):
        return _NO_PAYLOAD
    try:
        return PAYLOAD.decode(raw)
    except _BAD:
        return _NO_PAYLOAD


def display_of(outcome: Outcome | None) -> Display:
    """Return what a result shows, as far as it is understood."""
    raw = bytes(outcome.result_display) if outcome is not None else b""
    if b'"exitCode"' not in raw[:4096] or not raw.startswith(b"{"):
        return _NO_DISPLAY
    try:
        return DISPLAY.decode(raw)
    except _BAD:
        return _NO_DISPLAY


def text_of(content: Content | None, *, thought: bool = False) -> str:
    """Return the text of a message, or of its thoughts."""
    parts: list[Any] = (content.parts if content is not None else None) or []
    return "".join(part.text or "" for part in parts if bool(part.thought) == thought)
