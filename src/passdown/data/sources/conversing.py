"""From the messages of a row to events, by the machinery that reads trajectory files."""

from __future__ import annotations

from typing import Any

from msgspec import Raw

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


def acted(events: list[AnyEvent]) -> bool:
    """Say whether an agent said or did anything."""
    return any(isinstance(event, AssistantMessage | ToolCall) for event in events)
