"""What droid writes: its session store, and the lines of `droid exec --output-format stream-json`.

The producer is closed. The shapes are those of public session files and of public readers of them (`cli-continues`,
`agent-sessions`). Only the fields that are used are named, and all of them have defaults.
"""

# Annotations are not left as text here: msgspec would compile each of them again to make its decoder.

from typing import Any

import msgspec
from msgspec import Struct

from passdown.io.log import Number

Stamp = str | int | float | None


class Message(Struct, gc=False):
    """A message of the store, in Anthropic's shape."""

    role: str | None = None
    content: Any = None
    model: str | None = None


class Record(Struct, gc=False):
    """One line of either log. `message` and `todos` are the store's, the names in camel case the stream's."""

    type: str = ""
    id: str | None = None
    timestamp: Stamp = None
    cwd: str | None = None
    model: str | None = None
    # session_start
    title: str | None = None
    session_title: str | None = msgspec.field(default=None, name="sessionTitle")
    version: Any = None
    calling_session_id: str | None = msgspec.field(default=None, name="callingSessionId")
    # message
    message: Message | str | None = None
    role: str | None = None
    text: str | None = None
    # todo_state, compaction_state
    todos: Any = None
    summary_text: str | None = msgspec.field(default=None, name="summaryText")
    # stream-json
    session_id: str | None = None
    tool_call_id: str | None = msgspec.field(default=None, name="toolCallId")
    tool_id: str | None = msgspec.field(default=None, name="toolId")
    tool_name: str | None = msgspec.field(default=None, name="toolName")
    parameters: Any = None
    value: Any = None
    is_error: bool | None = msgspec.field(default=None, name="isError")
    error: Any = None
    final_text: str | None = msgspec.field(default=None, name="finalText")
    # agent_turn_outcome
    reason: str | None = None


class Tokens(Struct, rename="camel", gc=False):
    """What the whole session spent; droid keeps no count of a single response."""

    input_tokens: Number = None
    output_tokens: Number = None
    cache_creation_tokens: Number = None
    cache_read_tokens: Number = None
    thinking_tokens: Number = None


class Settings(Struct, rename="camel", gc=False):
    """`<id>.settings.json`, beside the log."""

    model: str | None = None
    token_usage: Tokens | None = None


RECORD = msgspec.json.Decoder(Record)
SETTINGS = msgspec.json.Decoder(Settings)

STORE = frozenset({"session_start", "message", "todo_state", "compaction_state"})
STREAM = frozenset({"system", "message", "reasoning", "tool_call", "tool_result", "completion", "error", "result"})
IGNORED = frozenset({"agent_turn_outcome", "session_end", "result"})
"""Records that are understood and hold nothing a session needs, unless they say that the agent was stopped."""


def decode(line: bytes) -> Record:
    """Return the record on a line. Raises what msgspec does when it is none."""
    return RECORD.decode(line)


def is_stream(record: Record) -> bool:
    """Say whether a record can only be one of stream-json."""
    if record.session_id is None or record.type not in STREAM or isinstance(record.message, Message):
        return False
    return bool(
        (record.type == "message" and record.role and record.text is not None)
        or (record.type in ("tool_call", "tool_result") and (record.tool_call_id or record.tool_id))
        or (record.type == "completion" and record.final_text is not None)
    )  # fmt: skip
