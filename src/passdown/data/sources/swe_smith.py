"""Rows of SWE-smith's trajectories: `messages` (JSON in a string), `instance_id, resolved, model, traj_id, patch`.

A call stands in `tool_calls` (the split `tool`), as `<function=…>` in the text (`xml`), or in the last block of code
(`ticks`), where the editor is typed as a command.
"""

# Annotations are not left as text here: msgspec would compile each of them again to make its decoder.

from typing import Any

import msgspec
from msgspec import Raw, Struct

from passdown.data.records import Outcome, Reject, Trajectory
from passdown.data.sources.conversing import acted, converse
from passdown.data.sources.fences import last_block, typed_call
from passdown.data.sources.origin import Origin, decided, extras_of, task_of, text_in
from passdown.data.trajectory import assemble
from passdown.model.session import AnyEvent
from passdown.trajectories.conversation import ASSISTANT, Conversation, Message, text_of
from passdown.trajectories.document import Row, decoded


class Columns(Struct, gc=False):
    """A row, as far as it is used."""

    messages: Raw = Raw()
    instance_id: Any = None
    resolved: Any = None
    model: Any = None
    traj_id: Any = None
    patch: Any = None


_COLUMNS = msgspec.json.Decoder(Columns)


def read_row(row: Row, origin: Origin) -> Trajectory | Reject:
    """Return the trajectory of a row, or why it is none."""
    columns = decoded(row.data or b"", _COLUMNS)
    if columns is None:
        return origin.reject("unreadable", row.line, "not a row of this set")
    conversation = Conversation(model=text_in(columns.model))
    events = converse(
        columns.messages, row, agent="swe_agent", session_id=text_in(columns.traj_id), conversation=conversation,
        tell=lambda message, place: _tell(conversation, message, place),
    )  # fmt: skip
    if not acted(events):
        return origin.reject("empty", row.line)
    task = task_of(columns.instance_id)
    return assemble(
        events, origin.at(row.line), instance_id=task.instance_id, repo=task.repo, base_commit=task.base_commit,
        outcome=Outcome(resolved=decided(columns.resolved), patch=text_in(columns.patch)),
        extras=extras_of(source_id=columns.traj_id),
    )  # fmt: skip


def _tell(conversation: Conversation, message: Message, place: dict[str, Any]) -> list[AnyEvent] | None:
    """Tell an answer whose call is a block of code; every other message in the conversation's own way."""
    if message.tool_calls or message.role not in ASSISTANT:
        return conversation.add(message, place)
    text = text_of(message.content)
    said, block = last_block(text) if "```" in text and "<function=" not in text else (text, "")
    if not block:
        return conversation.add(message, place)
    conversation.begin(place)
    conversation.say(said)
    call = typed_call(block)
    conversation.call(call.tool, call.arguments, said=True)
    return conversation.taken()
