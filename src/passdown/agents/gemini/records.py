"""What Gemini CLI writes: a log of updates since 0.40, before that one JSON document with all messages.

The shapes are those of `packages/core/src/services/chatRecordingTypes.ts` and of real files. Only the fields that are
used are named. All of them have defaults: a session is what its writer made of it.
"""

# Annotations are not left as text here: msgspec would compile each of them again to make its decoder.

from typing import Any

import msgspec
from msgspec import Raw, Struct, field

from passdown.agents.genai.parts import Parts
from passdown.io.log import Number

Stamp = str | int | float | None


class Thought(Struct, gc=False):
    """One visible thought."""

    subject: str | None = None
    description: str | None = None


class Tokens(Struct, gc=False):
    """Token counts of one response: `input` holds what the cache gave, `output` leaves out the thoughts."""

    input: Number = None
    output: Number = None
    cached: Number = None
    thoughts: Number = None
    tool: Number = None


class Call(Struct, rename="camel", gc=False):
    """A tool call with its result, written when it has ended."""

    id: str | None = None
    name: str | None = None
    args: Any = None
    result: Parts = None
    status: str | None = None
    timestamp: Stamp = None
    agent_id: str | None = None


class Metadata(Struct, rename="camel", gc=False):
    """What changes of the session's header: `messages` replaces the whole history."""

    session_id: str | None = None
    project_hash: str | None = None
    start_time: Stamp = None
    summary: str | None = None
    directories: list[str] | None = None
    kind: str | None = None
    messages: list[Raw] | None = None


class Row(Struct, gc=False):
    """One line: a header, an update of it (`$set`), a rewind (`$rewindTo`) or a message."""

    update: Metadata | None = field(default=None, name="$set")
    rewind: str | None = field(default=None, name="$rewindTo")
    session_id: str | None = field(default=None, name="sessionId")
    project_hash: str | None = field(default=None, name="projectHash")
    id: str | None = None
    type: str | None = None
    timestamp: Stamp = None
    content: Parts = None
    display: Parts = field(default=None, name="displayContent")
    thoughts: list[Thought] | None = None
    tokens: Tokens | None = None
    model: str | None = None
    calls: list[Call] | None = field(default=None, name="toolCalls")
    start_time: Stamp = field(default=None, name="startTime")
    summary: str | None = None
    directories: list[str] | None = None
    kind: str | None = None
    messages: list[Raw] | None = None


class Mark(Struct, gc=False):
    """As much of a line as tells what a rewind takes back."""

    id: str | None = None
    rewind: str | None = field(default=None, name="$rewindTo")


ROW = msgspec.json.Decoder(Row)
MARK = msgspec.json.Decoder(Mark)
