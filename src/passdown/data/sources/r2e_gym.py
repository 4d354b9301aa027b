"""Rows of R2E-Gym's SFT set: `messages` alone, every run resolved; calls stand in the text as `<function=…>`.

An observation begins with `Execution output of [tool]:`, with `Exit code: n` before it where a command ran. The row
names neither the instance nor the repository.
"""

# Annotations are not left as text here: msgspec would compile each of them again to make its decoder.

from typing import Any

import msgspec
from msgspec import Raw, Struct

from passdown.data.records import Outcome, Reject, Trajectory
from passdown.data.sources.conversing import acted, converse
from passdown.data.sources.origin import Origin, task_of, text_in
from passdown.data.trajectory import assemble
from passdown.model.pattern import lazy_pattern
from passdown.model.session import AnyEvent
from passdown.trajectories.conversation import USER, Conversation, Message, text_of
from passdown.trajectories.document import Row, decoded

_OBSERVED = lazy_pattern(r"(?:Exit code: (-?\d{1,10})\n)?Execution output of \[[^\]\n]{1,80}\]:\n?")
_ISSUE = ("[ISSUE]", "[/ISSUE]")


class Columns(Struct, gc=False):
    """A row, as far as it is used. Sets made of this one name the instance in `docker_image` or `instance_id`."""

    messages: Raw = Raw()
    instance_id: Any = None
    docker_image: Any = None


_COLUMNS = msgspec.json.Decoder(Columns)


def read_row(row: Row, origin: Origin) -> Trajectory | Reject:
    """Return the trajectory of a row, or why it is none."""
    columns = decoded(row.data or b"", _COLUMNS)
    if columns is None:
        return origin.reject("unreadable", row.line, "not a row of this set")
    conversation = Conversation(cwd="/testbed")
    events = converse(
        columns.messages, row, agent="r2egym", conversation=conversation,
        tell=lambda message, place: _tell(conversation, message, place),
    )  # fmt: skip
    if not acted(events):
        return origin.reject("empty", row.line)
    task = task_of(text_in(columns.instance_id) or text_in(columns.docker_image))
    return assemble(
        events, origin.at(row.line), instance_id=task.instance_id, repo=task.repo, base_commit=task.base_commit,
        outcome=Outcome(resolved=True),
    )  # fmt: skip


def _tell(conversation: Conversation, message: Message, place: dict[str, Any]) -> list[AnyEvent] | None:
    """Tell a message; of an observation, without its header, and with the exit code that it says."""
    if message.role in USER:
        text = text_of(message.content)
        if (match := _OBSERVED.match(text)) is not None:
            message.content = text[match.end() :]
            if match[1] is not None:
                message.extra = {"returncode": int(match[1])}
        elif not conversation.asked and all(mark in text for mark in _ISSUE):
            message.content = text.replace(f"{_ISSUE[0]}\n", "").replace(f"\n{_ISSUE[1]}", "")
    return conversation.add(message, place)
