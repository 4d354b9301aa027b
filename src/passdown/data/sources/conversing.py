"""From the messages of a row to events, by the machinery that reads trajectory files."""

from __future__ import annotations

from typing import Any

from msgspec import Raw, structs

from passdown.io.log import safe_id
from passdown.model.session import AnyEvent, AssistantMessage, Interruption, SessionStart, ToolCall
from passdown.trajectories.conversation import Conversation
from passdown.trajectories.document import Reading, Row
from passdown.trajectories.messages import Tell, told, within


def converse(
    listed: Raw,
    row: Row,
    *,
    agent: str,
    session_id: str = "",
    version: str = "",
    conversation: Conversation | None = None,
    tell: Tell | None = None,
    exit_status: Any = None,
) -> list[AnyEvent]:
    """Return a row's events, the first a `SessionStart`, the last a `SessionEnd`.

    `tell` turns a message into events where the conversation's own way does not do.
    """
    conversation = conversation if conversation is not None else Conversation()
    reading = Reading(row)
    start = SessionStart(
        session_id=safe_id(session_id) or f"row-{row.line}", agent=agent, agent_version=version, line=row.line
    )
    events: list[AnyEvent] = [start]
    events += told(within(listed, row.data or b"", row.offset), tell or conversation.add, reading, row.line)
    if isinstance(exit_status, str) and exit_status and "submit" not in exit_status.lower():
        events.append(Interruption(reason=f"error: {exit_status[:200]}", line=row.line))
    events.append(reading.end(dict(conversation.ignored)))
    return events


def acted(events: list[AnyEvent], agent_id: str = "") -> bool:
    """Say whether an agent said or did anything of its own: not rewound, and no other session's."""
    return any(
        isinstance(event, AssistantMessage | ToolCall)
        and event.agent_id == agent_id
        and event.active
        and not event.copied
        for event in events
    )


def as_main(events: list[AnyEvent]) -> tuple[list[AnyEvent], str]:
    """Return the events of a file that holds one subagent's run alone as a run of its own, and the subagent's id."""
    names = {event.agent_id for event in events if isinstance(event, AssistantMessage | ToolCall)}
    if len(names) != 1 or "" in names:
        return events, ""
    name = names.pop()
    return [structs.replace(event, agent_id="") if event.agent_id == name else event for event in events], name
