"""What Copilot CLI writes: one event a line, `{type, data, id, timestamp, parentId}`.

The shapes are those of `@github/copilot-sdk` (`generated/session-events.d.ts`) and of real logs since 0.0.420. Only the
fields that are used are named. All of them have defaults: a session is what its writer made of it.
"""

# Annotations are not left as text here: msgspec would compile each of them again to make its decoder.

from typing import Any, NamedTuple

import msgspec
from msgspec import Raw, Struct

from passdown.io.log import Number

Stamp = str | int | float | None


class Envelope(Struct, rename="camel", gc=False):
    """One line. `agent_id` is a subagent's, whose events stand between those of the main agent."""

    type: str = ""
    data: Raw = Raw()
    timestamp: Stamp = None
    agent_id: str | None = None


class Context(Struct, rename="camel", gc=False):
    """Where the session works."""

    cwd: str | None = None
    branch: str | None = None
    head_commit: str | None = None
    repository: str | None = None
    repository_host: str | None = None


class Start(Struct, rename="camel", gc=False):
    """`session.start` and `session.resume`."""

    session_id: str | None = None
    copilot_version: str | None = None
    producer: str | None = None
    start_time: Stamp = None
    selected_model: str | None = None
    context: Context | None = None
    detached_from_spawning_parent_session_id: str | None = None


class ModelChanged(Struct, rename="camel", gc=False):
    """`session.model_change`: the model that was chosen, not yet one that answered."""

    new_model: str | None = None


class Attachment(Struct, rename="camel", gc=False):
    """What a person put beside their words."""

    type: str = ""
    mime_type: str | None = None


class Said(Struct, rename="camel", gc=False):
    """`user.message`: `content` as typed, `transformed_content` as sent. `source` is absent for what a person typed."""

    content: str | None = None
    transformed_content: str | None = None
    source: str | None = None
    attachments: list[Attachment] | None = None
    is_autopilot_continuation: bool | None = None


class Request(Struct, rename="camel", gc=False):
    """One tool call of an answer."""

    tool_call_id: str | None = None
    name: str | None = None
    arguments: Any = None


class Answer(Struct, rename="camel", gc=False):
    """`assistant.message`, and `assistant.reasoning`, which has only `content`."""

    content: str | None = None
    reasoning_text: str | None = None
    message_id: str | None = None
    api_call_id: str | None = None
    request_id: str | None = None
    model: str | None = None
    output_tokens: Number = None
    tool_requests: list[Request] | None = None
    parent_tool_call_id: str | None = None


class Begun(Struct, rename="camel", gc=False):
    """`tool.execution_start`, and `tool.user_requested` for a person's own `!command`."""

    tool_call_id: str | None = None
    tool_name: str | None = None
    arguments: Any = None
    parent_tool_call_id: str | None = None


class Shell(Struct, rename="camel", gc=False):
    """How a command ended, in newer logs."""

    exit_code: Number = None


class Metrics(Struct, gc=False):
    """Numbers beside a result."""

    exit_code: Number = None


class Telemetry(Struct, gc=False):
    """What is measured of a call."""

    metrics: Metrics | None = None


class Problem(Struct, gc=False):
    """Why a call failed."""

    message: str | None = None
    code: str | None = None


class Result(Struct, gc=False):
    """What a call gave back."""

    content: Any = None


class FileEdit(Struct, gc=False):
    """A file that a call changed."""

    path: str | None = None


class Ended(Struct, rename="camel", gc=False):
    """`tool.execution_complete`. `success` says that the tool worked, not that the command did."""

    tool_call_id: str | None = None
    success: bool | None = None
    result: Result | None = None
    error: Problem | str | None = None
    shell_execution: Shell | None = None
    tool_telemetry: Telemetry | None = None
    file_edits: list[FileEdit] | None = None
    model: str | None = None
    parent_tool_call_id: str | None = None


class Decision(Struct, gc=False):
    """What was decided about a permission."""

    kind: str | None = None
    feedback: str | None = None


class Decided(Struct, rename="camel", gc=False):
    """`permission.completed`."""

    tool_call_id: str | None = None
    result: Decision | None = None


class Tokens(Struct, rename="camel", gc=False):
    """Tokens of one response; `input_tokens` holds what the cache gave and took as well."""

    model: str | None = None
    api_call_id: str | None = None
    input_tokens: Number = None
    output_tokens: Number = None
    cache_read_tokens: Number = None
    cache_write_tokens: Number = None
    reasoning_tokens: Number = None
    max_prompt_tokens: Number = None
    parent_tool_call_id: str | None = None


class UsageRecord(Struct, gc=False):
    """`session.usage_record`."""

    usage: Tokens | None = None


class Compacted(Struct, rename="camel", gc=False):
    """`session.compaction_complete`."""

    success: bool | None = None
    summary_content: str | None = None
    pre_compaction_tokens: Number = None
    post_compaction_tokens: Number = None
    compaction_tokens_used: Tokens | None = None
    custom_instructions: str | None = None
    trigger: str | None = None
    request_id: str | None = None


class Truncated(Struct, rename="camel", gc=False):
    """`session.truncation`: old messages were dropped."""

    pre_truncation_tokens_in_messages: Number = None
    post_truncation_tokens_in_messages: Number = None


class Child(Struct, rename="camel", gc=False):
    """`subagent.started`."""

    tool_call_id: str | None = None
    agent_name: str | None = None


class Stopped(Struct, rename="camel", gc=False):
    """`abort` has a reason, `session.error` a message."""

    reason: str | None = None
    message: str | None = None


class Kind(Struct, rename="camel", gc=False):
    """What a notification is about."""

    type: str = ""
    shell_id: str | int | None = None
    exit_code: Number = None


class Notice(Struct, rename="camel", gc=False):
    """`system.notification`."""

    content: str | None = None
    kind: Kind | None = None


class Note(Struct, rename="camel", gc=False):
    """Texts of the rarer events: a title, a summary, a plan, a skill's body."""

    title: str | None = None
    summary: str | None = None
    plan_content: str | None = None
    content: str | None = None


_SHAPES: dict[str, type] = {
    "session.start": Start, "session.resume": Start, "session.context_changed": Context,
    "session.model_change": ModelChanged, "user.message": Said, "assistant.message": Answer,
    "assistant.reasoning": Answer, "tool.execution_start": Begun, "tool.user_requested": Begun,
    "tool.execution_complete": Ended, "permission.completed": Decided, "session.usage_record": UsageRecord,
    "assistant.usage": Tokens, "session.compaction_complete": Compacted, "session.truncation": Truncated,
    "subagent.started": Child, "abort": Stopped, "session.error": Stopped, "system.notification": Notice,
    "session.title_changed": Note, "session.task_complete": Note, "exit_plan_mode.requested": Note,
    "skill.invoked": Note, "session.handoff": Note,
}  # fmt: skip
"""The events that are read, with the shape of their data."""

_ENVELOPE = msgspec.json.Decoder(Envelope)
_DECODERS: dict[str, Any] = {}


class Entry(NamedTuple):
    """One event: its envelope, and its data where the type is one that is read."""

    envelope: Envelope
    data: Any


def decode(line: bytes) -> Entry:
    """Return the event on a line. Raises what msgspec does when it is none."""
    envelope = _ENVELOPE.decode(line)
    decoder = _DECODERS.get(envelope.type)
    if decoder is None:
        shape = _SHAPES.get(envelope.type)
        if shape is None:
            return Entry(envelope, None)
        decoder = _DECODERS[envelope.type] = msgspec.json.Decoder(shape)
    return Entry(envelope, decoder.decode(envelope.data) if bytes(envelope.data) else decoder.decode(b"{}"))


def is_read(kind: str) -> bool:
    """Say whether events of this type are read."""
    return kind in _SHAPES
