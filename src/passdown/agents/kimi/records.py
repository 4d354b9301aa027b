"""What Kimi writes: flat records (Kimi Code), wire messages and context rows (Kimi CLI). Only what is used is named.

The shapes are those of `MoonshotAI/kimi-code` (`packages/agent-core-v2`) and `MoonshotAI/kimi-cli` (`wire/types.py`,
`soul/context.py`).
"""

# Annotations are not left as text here: msgspec would compile each of them again to make its decoder.

from typing import Any, Literal, NamedTuple

import msgspec
from msgspec import Raw, Struct

from passdown.io.log import Number, safe_id

Stamp = str | int | float | None
Dialect = Literal["code", "wire", "context"]


class Envelope(Struct, gc=False):
    """One line of any of the three logs."""

    type: str | None = None
    time: Stamp = None
    timestamp: Stamp = None
    role: str | None = None
    message: Raw = Raw()
    protocol_version: str | None = None
    created_at: Stamp = None


class Source(Struct, rename="camel", gc=False):
    """Where a message of Kimi Code comes from."""

    kind: str = ""
    name: str | None = None
    trigger: str | None = None
    phase: str | None = None
    skill_name: str | None = None
    skill_args: str | None = None
    command_name: str | None = None
    command_args: str | None = None


class Message(Struct, frozen=True, rename="camel", gc=False):
    """A message of Kimi Code's context."""

    role: str | None = None
    content: Any = None
    origin: Source | None = None
    tool_calls: list[dict[str, Any]] | None = None
    tool_call_id: str | None = None
    is_error: bool | None = None


class Spent(Struct, rename="camel", gc=False):
    """Tokens of one response."""

    input_other: Number = None
    output: Number = None
    input_cache_read: Number = None
    input_cache_creation: Number = None


class Step(Struct, frozen=True, rename="camel", gc=False):
    """An event of the loop: a step's begin and end, a part of an answer, a tool call, its result."""

    type: str = ""
    uuid: str | None = None
    step_uuid: str | None = None
    tool_call_id: str | None = None
    name: str | None = None
    args: Any = None
    display: Any = None
    part: Any = None
    result: Any = None
    usage: Spent | None = None


class Appended(Struct, gc=False):
    """`context.append_message`."""

    message: Message = Message()


class Looped(Struct, gc=False):
    """`context.append_loop_event`."""

    event: Step = Step()


class Prompt(Struct, gc=False):
    """`turn.prompt` and `turn.steer`: what was typed, whether or not it gets to the model."""

    input: Any = None
    origin: Source | None = None


class Config(Struct, rename="camel", gc=False):
    """`config.update`, `profile.bind` and `llm.request`: the folder and the model."""

    cwd: str | None = None
    model: str | None = None
    model_alias: str | None = None
    environment_disclosure: Any = None


class UsageRecord(Struct, gc=False):
    """`usage.record`."""

    model: str | None = None
    usage: Spent | None = None


class Compacted(Struct, rename="camel", gc=False):
    """`full_compaction.begin` says why, `context.apply_compaction` what came of it."""

    source: str | None = None
    summary: Any = None
    context_summary: Any = None
    tokens_before: Number = None
    tokens_after: Number = None


class Approval(Struct, rename="camel", gc=False):
    """`permission.record_approval_result`."""

    tool_call_id: str | None = None
    result: Any = None


class Stored(Struct, gc=False):
    """`tools.update_store`: the todo list is one of the things stored."""

    key: str | None = None
    value: Any = None


class Ended(Struct, gc=False):
    """`turn.ended` and `turn.cancel`, `turn.step.interrupted`, `prompt.aborted`."""

    reason: str | None = None
    error: Any = None


class Task(Struct, gc=False):
    """`task.terminated`."""

    info: Any = None


class WireMessage(Struct, gc=False):
    """A message of Kimi CLI's wire."""

    type: str = ""
    payload: Any = None


class Row(Struct, gc=False):
    """A row of Kimi CLI's `context.jsonl`."""

    role: str = ""
    content: Any = None
    tool_calls: list[Any] | None = None
    tool_call_id: str | None = None


SHAPES: dict[str, type] = {
    "context.append_message": Appended, "context.append_loop_event": Looped, "turn.prompt": Prompt,
    "turn.steer": Prompt, "config.update": Config, "profile.bind": Config, "llm.request": Config,
    "usage.record": UsageRecord, "full_compaction.begin": Compacted, "context.apply_compaction": Compacted,
    "permission.record_approval_result": Approval, "tools.update_store": Stored, "turn.ended": Ended,
    "turn.cancel": Ended, "turn.step.interrupted": Ended, "prompt.aborted": Ended, "task.terminated": Task,
}  # fmt: skip
"""Kimi Code's records that are read, with their shape."""

_ENVELOPE = msgspec.json.Decoder(Envelope)
_WIRE = msgspec.json.Decoder(WireMessage)
_ROW = msgspec.json.Decoder(Row)
_DECODERS: dict[str, Any] = {kind: msgspec.json.Decoder(shape) for kind, shape in SHAPES.items()}


class Entry(NamedTuple):
    """One record: its envelope, whose dialect it is in, and its data where it is one that is read."""

    dialect: Dialect
    envelope: Envelope
    data: Any


def decode(line: bytes) -> Entry:
    """Return the record on a line. Raises what msgspec does when it is none."""
    envelope = _ENVELOPE.decode(line)
    if envelope.type is not None:
        decoder = _DECODERS.get(envelope.type)
        return Entry("code", envelope, decoder.decode(line) if decoder is not None else None)
    message = bytes(envelope.message)
    if message.startswith(b"{"):
        return Entry("wire", envelope, _WIRE.decode(message))
    return Entry("context", envelope, _ROW.decode(line))


def texts(content: Any) -> str:
    """Return the text of a message's content, which is a string or a list of parts."""
    if isinstance(content, str):
        return content
    parts = [part for part in content[:1000] if isinstance(part, dict)] if isinstance(content, list) else []
    found = [part.get("text") for part in parts if part.get("type", "text") == "text"]
    return "\n".join(text for text in found if isinstance(text, str))


def images(content: Any) -> int:
    """Return how many images a message's content holds."""
    parts = [part for part in content[:1000] if isinstance(part, dict)] if isinstance(content, list) else []
    return sum(str(part.get("type", "")).startswith("image") for part in parts)


def identifier(value: Any) -> str:
    """Return an identifier out of a loose value, empty when it is none."""
    return safe_id(value) if isinstance(value, str) else ""
